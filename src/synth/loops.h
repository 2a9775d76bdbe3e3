// SPDX-License-Identifier: Apache-2.0
// Loop nests for groups of statements: shared outer loops divided among threads, inside them one pass over a
// row for each step, plain or by lanes.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "synth/printer.h"

namespace ako::synth {

/// What a pass asks the memory for before it is needed.
struct Fetch {
  ExprId access = -1;
  bool next_row = false;  // of the next iteration of the shared loops; else of this row, some lines ahead
};

/// Statements that run in one loop over the same range.
struct Pass {
  std::vector<Range> outer;  // plain loops round the innermost
  Range inner;               // of the first statement; the others' indices are bound to the same variable
  std::vector<std::size_t> statements;
  bool lanes = false;
  std::vector<Fetch> fetch;
};

/// Scratch that a kernel needs beside its arguments.
struct Scratch {
  TensorId tensor = -1;
  bool row = false;  // one row per thread, each a multiple of a cache line long
};

class Loops {
 public:
  Loops(const Layout& layout, Printer& printer)
      : layout_(layout), printer_(printer), program_(printer.program()) {}

  void group(const Group&);
  const std::vector<Scratch>& scratch() const { return scratch_; }

 private:
  struct Bound {  // of one statement of a pass: its own outer indices and its innermost one
    std::vector<Range> outer;
    Range inner;
  };

  void body(const Group&);
  std::vector<Pass> passes(const Group&) const;
  Pass pass_of(const Group&, std::size_t at) const;
  bool may_join(const Group&, const Pass&, std::size_t at) const;
  Bound bound_of(const Group&, std::size_t at) const;
  bool lanes_pay(const Statement&, const Range& inner) const;

  void single(std::size_t at);
  void plain_pass(const Group&, const Pass&);
  void lane_pass(const Group&, const Pass&);
  void lane_body(const Group&, const Pass&);
  void lane_reduction(std::size_t at);
  void plan_prefetch(const Group&, std::vector<Pass>&) const;
  void prefetch(const Group&, const Pass&);
  bool read_outside(const Group&, const Pass&, TensorId) const;
  void bind_statement(const Bound&, const Pass&, const std::vector<std::string>& outer,
                      const std::string& inner);

  struct Share {
    std::string function, first, last, extent, work;
  };
  Share open_share(const Range&, const std::vector<Range>& work, std::set<IndexId> indices);
  void close_share(const Share&);
  void one_iteration(const Group&, const std::vector<Range>& shared, const std::vector<Range>& work);
  void shared_loops(const std::vector<Range>& shared, const std::vector<std::string>& names,
                    std::size_t separable, const std::string& schedule, const std::string& enough,
                    const std::string& call);
  std::string work_text(const std::vector<Range>&);
  std::vector<Range> separable(const Group&, std::vector<Range> loops) const;
  void add_reduction(const Statement&, std::vector<Range>& work) const;
  bool uneven(const Group&) const;
  void note_scratch(TensorId);
  void assign(const Statement&, const std::string& value);

  // loops_in_order.cpp: statements whose order of evaluation matters
  void in_order(const Statement&);

  // loops_scan.cpp
  struct Scan {
    const Statement& statement;
    const Expr& value;   // the reduction
    const Range& range;  // its index
    const Range& steps;  // the statement's index along the line
    bool exclusive;
  };
  void scan(const Statement&);
  bool by_lanes(const Scan&) const;
  void running_lanes(const Scan&);
  void running_value(const Scan&);

  // loops_transposed.cpp
  struct Transposed {
    Range across, along;        // the axis that reads step along, and the one that writes do
    std::vector<ExprId> reads;  // accesses that step along `across`
  };
  std::optional<Transposed> transposed(const Group&) const;
  void tiles(const Group&, const Transposed&);

  // loops_in_order.cpp
  void recurrence(const Statement&);
  void update(const Statement&);
  void ordered_loops(const Statement&, std::vector<Range> loops, const Range* shared, const Range* along);
  void clear(const Statement&);

  const Layout& layout_;
  Printer& printer_;
  const Program& program_;
  std::vector<Scratch> scratch_;
  std::set<TensorId> cleared_;
  std::map<std::size_t, std::string> accumulators_;  // of the pass being written, by statement
};

}  // namespace ako::synth
