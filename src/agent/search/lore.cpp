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
    {"algorithm", 1.0},
    {"threads", 0.6},
    {"vector", 0.5},
    {"math", 0.5},
    {"operands", 0.4},
    {"passes", 0.3},
    {"temporaries", 0.25},
    {"stores", 0.35},
    {"prefetch", 0.3},
    {"tile_m", 0.15},
    {"tile_n", 0.15},
    {"unroll", 0.12},
    {"block_k", 0.1},
    {"split", 0.1},
    {"block_m", 0.06},
    {"block_n", 0.06},
    {"divide", 0.06},
    // On GPUs.
    {"product", 1.0},
    {"rows", 0.8},
    {"points", 0.5},
    {"swap", 0.6},
    {"updates", 0.4},
    {"tile", 0.25},
    {"wave_tile", 0.2},
    {"thread_tile", 0.2},
    {"stages", 0.15},
    {"matrix_depth", 0.12},
    {"row_threads", 0.2},
    {"access", 0.08},
    {"swap_order", 0.1},
    {"swap_tile", 0.1},
    {"swap_threads", 0.08},
    {"items", 0.1},
    {"persistent", 0.08},
    {"block", 0.06},
    {"depth", 0.08},
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
    {"product", "matrix",
     "Ordinary units multiply one pair of elements in an instruction of a lane; the matrix units multiply "
     "whole tiles "
     "of 16-bit operands, which is where most of this device's arithmetic is."},
    {"product", "tiled",
     "A thread for each sum reads both operands from the caches for every multiplication; tiles in shared "
     "memory are "
     "read from there by all threads of the block."},
    {"product", "plain",
     "Where the result is small, tiles leave most compute units without a block; a thread for each sum fills "
     "them."},
    {"rows", "registers",
     "Each pass reads the row from memory again; shared by the threads of a block and kept in their "
     "registers, it is "
     "read once."},
    {"rows", "reread",
     "Rows in registers leave few threads on a compute unit; read again by each pass, mostly from the "
     "last-level "
     "cache, they leave more waves to hide latency with."},
    {"rows", "plain", "Rows this short may not be worth sharing; a thread for each needs no barrier."},
    {"points", "vectors",
     "One element per thread asks memory in small pieces; neighbours in one access of up to 16 bytes need "
     "fewer "
     "instructions for the same traffic."},
    {"points", "plain", "Vectors may leave too few threads to fill the device; elements one by one do not."},
    {"access", "streaming",
     "What is read or written once pushes useful lines out of the caches; marked as streaming it is the "
     "first to go."},
    {"access", "cached",
     "Streaming accesses give up lines that another block still wants; ordinary ones leave the choice to the "
     "caches."},
    {"swap", "tiles",
     "A transposition reads or writes across lines of memory, of which each access uses a few bytes; tiles "
     "in shared "
     "memory turn the corner there, and both sides move whole lines."},
    {"swap", "plain", "Where both sides fit in the caches, their lines are used in full anyway."},
    {"swap_order", "reads",
     "Neighbouring blocks now write side by side; side by side in what they read, they find pages and lines "
     "of the "
     "source open."},
    {"swap_order", "writes",
     "Neighbouring blocks now read side by side; partly written lines cost more than partly read ones."},
    {"updates", "atomic",
     "Sums in the order written leave one thread with all of an element's terms; atomic additions let all "
     "threads "
     "add, in whatever order they come."},
    {"updates", "ordered",
     "Atomic additions to few elements wait for each other; sums in order do not, and give the same bits "
     "each time."},
    {"math", "fast",
     "Elementary functions to the last place take tens of instructions; the special-function units "
     "approximate them "
     "in one, within what the tolerance allows."},
    {"math", "exact", "Where memory is waited for, exact functions cost no time."},
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
    {"row_threads",
     "{from} threads hold long pieces of a row each; {to} share it in shorter ones, with more requests in "
     "flight.",
     "{from} threads for a row spend their time in barriers and leave some without work; {to} finish sooner, "
     "and more "
     "rows run side by side.",
     "The threads of a row decide between requests in flight and waiting at barriers; {from} was a guess."},
    {"tile", "A larger tile ({to} instead of {from}) uses each loaded operand more often.",
     "Tiles of {from} leave the last wave of blocks half empty and few blocks on a compute unit; {to} "
     "divides the work "
     "more evenly.",
     "The block's tile decides between reuse of operands and work for all {cores} compute units; {from} was "
     "a guess."},
    {"thread_tile",
     "More results in a thread ({to} instead of {from}) use each value from shared memory more often.",
     "Results in registers leave few waves at {from}; {to} leaves more of them to hide latency.",
     "A thread's tile decides between reuse of shared memory and waves in flight; {from} was a guess."},
    {"wave_tile", "A larger tile of a wave ({to} instead of {from}) loads each fragment for more products.",
     "Accumulators of {from} crowd the registers; {to} lets more waves run.",
     "A wave's tile decides between reuse of fragments and registers; {from} was a guess."},
    {"stages",
     "More stages on their way ({to} instead of {from}) keep the matrix units fed while memory answers.",
     "{from} stages take shared memory from a second block on the unit; {to} leaves room for it.",
     "The number of stages decides between hiding memory's latency and blocks side by side; {from} was a "
     "guess."},
    {"matrix_depth", "Longer stages (matrix_depth={to} instead of {from}) need fewer barriers.",
     "Stages of {from} fill shared memory; shorter ones allow more of them, or a second block.",
     "The length of a stage decides between barriers and shared memory; {from} was a guess."},
    {"depth", "Longer sums between barriers (depth={to} instead of {from}) wait less often.",
     "Long sums between barriers take shared memory; depth={to} instead of {from} leaves more for other "
     "blocks.",
     "The length of sums between barriers was a guess at {from}."},
    {"block", "Larger blocks ({to} threads instead of {from}) are fewer to start.",
     "Smaller blocks ({to} threads instead of {from}) are replaced sooner when they end.",
     "The threads of a block were a guess at {from}."},
    {"items",
     "More vectors in a thread (items={to} instead of {from}) put more requests in flight before the first "
     "is used.",
     "Fewer vectors in a thread (items={to} instead of {from}) give more threads, which hide latency, too.",
     "Vectors per thread decide between requests in flight of a thread and threads in flight; {from} was a "
     "guess."},
    {"persistent",
     "Starting a block costs time; {to} for each compute unit that walk over everything start once.",
     "Blocks that walk in step read far apart; {to} instead of {from} follow each other more closely.",
     "Blocks that stay decide between starting and walking; {from} was a guess."},
    {"swap_tile", "Larger tiles ({to} lines instead of {from}) move longer pieces on both sides.",
     "Smaller tiles ({to} lines instead of {from}) let more blocks run on a unit.",
     "The size of a tile decides between longer pieces and more blocks; {from} was a guess."},
    {"swap_threads", "More threads on a tile ({to} instead of {from}) have more requests in flight.",
     "Fewer threads on a tile ({to} instead of {from}) wait less for each other.",
     "The threads of a tile were a guess at {from}."},
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
