// SPDX-License-Identifier: Apache-2.0
#include "agent/search/lore.h"

#include <algorithm>
#include <iterator>

namespace ako {
namespace {

struct Prior {
  std::string_view knob;
  double gain;
};
constexpr Prior kPriors[] = {
    {"algorithm", 1.0}, {"threads", 0.6},      {"vector", 0.5},  {"math", 0.5},     {"operands", 0.4},
    {"passes", 0.3},    {"temporaries", 0.25}, {"stores", 0.35}, {"prefetch", 0.3}, {"tile_m", 0.15},
    {"tile_n", 0.15},   {"unroll", 0.12},      {"block_k", 0.1}, {"split", 0.1},    {"block_m", 0.06},
    {"block_n", 0.06},  {"divide", 0.06},
};

struct ValueLore {
  std::string_view knob, value, reason;
};
constexpr ValueLore kValues[] = {
    {"algorithm", "tiled",
     "The plain nest loads both operands for every multiplication; packed panels and a register tile use "
     "each loaded "
     "value many times."},
    {"algorithm", "nest",
     "Packing is a pass of its own, and on small or thin operands it may cost more than it saves."},
    {"passes", "merged",
     "Each statement walks the row in a loop of its own and reads it again; merged loops read it once for "
     "several "
     "statements."},
    {"passes", "separate",
     "A merged loop keeps the values of several statements alive at once; separate loops are lean, and the "
     "row is "
     "still in the first cache when the next one reads it."},
    {"temporaries", "kept",
     "A value that two loops need is computed in both; kept in scratch, it costs a store and a load instead "
     "of the "
     "arithmetic."},
    {"temporaries", "recomputed",
     "Intermediate values travel through memory between loops; computing them again where they are read "
     "costs "
     "arithmetic and saves that traffic."},
    {"temporaries", "written",
     "Keeping or recomputing values helps only where one of the two is scarce; as the problem writes them, "
     "neither is "
     "spent."},
    {"math", "polynomial",
     "The C library evaluates an elementary function for one element a call; a polynomial evaluates it for a "
     "whole "
     "vector."},
    {"math", "short",
     "The polynomials are right to the last place, more than the tolerance asks; a shorter one takes half "
     "the "
     "instructions."},
    {"math", "libm",
     "Polynomials fill the multiply-add units; the C library's tables may leave them to the rest of the "
     "loop."},
    {"divide", "reciprocal",
     "A division has a fraction of a multiplication's throughput; one reciprocal per row turns the others "
     "into "
     "multiplications."},
    {"divide", "exact", "Where the loop waits for memory anyway, dividing costs no time and rounds once."},
    {"stores", "streaming",
     "An ordinary store first reads the line that it overwrites; streaming stores skip that read and leave "
     "the caches "
     "to the inputs."},
    {"stores", "cached",
     "Streaming stores send to memory what might have stayed in cache, and wait for write-combining buffers; "
     "ordinary "
     "stores do neither."},
    {"prefetch", "ahead",
     "The processor's own prefetchers keep few lines in flight; requests 4 KiB ahead keep more."},
    {"prefetch", "row",
     "Each row begins with misses that the hardware prefetcher has yet to notice; fetching the next row "
     "during this one "
     "overlaps memory and arithmetic."},
    {"prefetch", "off",
     "Software prefetches compete with loads for the same buffers; without them the hardware's own may "
     "suffice."},
    {"split", "columns",
     "Threads that share the columns each pack their own part of B and read the same A, which suits few "
     "rows."},
    {"split", "rows",
     "Threads that share the rows each pack their own part of A and read the same B, which suits many rows."},
    {"operands", "pairs",
     "Widened operands take two registers where one held them; multiplying pairs as they are doubles the "
     "arithmetic "
     "of an instruction and halves the traffic."},
    {"operands", "widened",
     "Pair products have their own latency and tile shapes; widened operands use plain multiply-adds."},
};

struct SizeLore {
  std::string_view knob, raise, lower, either;
};
constexpr SizeLore kSizes[] = {
    {"threads",
     "The work is shared by {from} of {cores} cores; threads={to} multiplies the arithmetic and draws more "
     "of the "
     "memory's bandwidth.",
     "On work this short, starting and joining threads may cost more than they save; threads={to} against "
     "{from} tells.",
     "The number of threads decides between more arithmetic and more waiting for each other; {from} was a "
     "guess."},
    {"vector",
     "Registers of {bits} bits are not filled at vector={from}; vector={to} does the same work in fewer "
     "instructions.",
     "Wide vectors leave longer remainders and may lower the clock; vector={to} instead of {from} has less "
     "of both.",
     "The width of a vector decides between fewer instructions and shorter remainders; {from} was a guess."},
    {"unroll",
     "One chain of dependent operations per step waits for its latency; unroll={to} instead of {from} keeps "
     "more in flight.",
     "Unrolled bodies hold many registers and lengthen the remainder of short rows; unroll={to} instead of "
     "{from} is leaner.",
     "How many vectors are in flight decides between waiting for latencies and running out of registers; "
     "{from} was a guess."},
    {"tile_m",
     "More rows in the register tile (tile_m={to} instead of {from}) use every loaded vector of B more "
     "often.",
     "A tile of {from} rows leaves no registers for loads to run ahead; tile_m={to} does.",
     "The rows of the register tile decide between reuse of B and room for loads; {from} was a guess."},
    {"tile_n",
     "More vectors across the register tile (tile_n={to} instead of {from}) use every broadcast of A more "
     "often.",
     "Fewer vectors across the tile (tile_n={to} instead of {from}) leave registers for more rows and "
     "smaller remainders.",
     "The width of the register tile decides between reuse of A and room for loads; {from} was a guess."},
    {"block_k", "Longer sums (block_k={to} instead of {from}) load and store each tile of C less often.",
     "A panel of B of {from} rows overflows the first cache; block_k={to} stays in it.",
     "The length of the sums decides between fewer passes over C and panels that stay in the first cache; "
     "{from} was a guess."},
    {"block_m", "More packed rows (block_m={to} instead of {from}) use each panel of B more often.",
     "The packed rows overflow the second cache at {from}; block_m={to} stays in it.",
     "The rows packed at once should fill the second cache and not overflow it; {from} was a guess."},
    {"block_n", "More packed columns (block_n={to} instead of {from}) pack A less often.",
     "The packed columns crowd the last cache at {from}; block_n={to} leaves room.",
     "The columns packed at once should fill the last cache and not overflow it; {from} was a guess."},
};

}  // namespace

double lore_prior(std::string_view knob) {
  auto found = std::ranges::find(kPriors, knob, &Prior::knob);
  return found == std::end(kPriors) ? 0 : found->gain;
}

std::string_view lore_of_value(std::string_view knob, std::string_view value) {
  for (const ValueLore& lore : kValues)
    if (lore.knob == knob && lore.value == value) return lore.reason;
  return {};
}

std::string_view lore_of_size(std::string_view knob, Direction direction) {
  auto found = std::ranges::find(kSizes, knob, &SizeLore::knob);
  if (found == std::end(kSizes)) return {};
  return direction == Direction::raise   ? found->raise
         : direction == Direction::lower ? found->lower
                                         : found->either;
}

}  // namespace ako
