// SPDX-License-Identifier: Apache-2.0
// The writer of one contraction: sizes and loops (contraction_kernel.cpp), packing (contraction_pack.cpp),
// and what becomes of the sums (contraction_finish.cpp).
#pragma once

#include <string>
#include <vector>

#include "synth/contraction.h"
#include "synth/register_tile.h"

namespace ako::synth {

class ContractionEmitter {
 public:
  ContractionEmitter(const Contraction&, Printer&, Code& functions, std::vector<Workspace>&);
  void emit();

 private:
  bool threaded() const { return choices_.threads > 1; }
  bool pairs() const { return products_ != Products::reals; }
  /// Threads take whole blocks of columns, of any batch, each with panels of its own.
  bool by_columns() const { return threaded() && choices_.split_n; }
  std::string element() const;   // of the panels
  std::string sum_type() const;  // of a tile
  ScalarType element_type() const;
  ScalarType sum_scalar() const;

  std::string extent(const std::vector<Range>&);
  std::string plan_extent(const std::vector<Range>&) const;
  /// Gives the indices of a flattened range their values, in variables of the block that is open.
  void unflatten(const std::vector<Range>&, const std::string& flat);
  void end_scope();
  std::string product(const std::vector<ExprId>& factors);
  std::string padded_depth() const { return pairs() ? "((ks + 1) / 2 * 2)" : "ks"; }

  // contraction_kernel.cpp
  void names();
  void buffers();
  std::string add_buffer(const std::string& name, ScalarType, std::string elements);
  void open_batch();
  void close_batch();
  void tiny();
  void blocked();
  void shared_columns();
  void own_columns();
  void column_block(bool shared);
  void row_block(bool shared);
  void pointers();
  std::string enough();

  // contraction_pack.cpp
  void pack_a();
  void pack_b();
  void pack_rows_by_lanes();
  void pack_rows();
  void pack_columns_by_lanes();
  void pack_columns_by_runs();
  void pack_pairs_of_rows();
  void pack_columns();
  bool by_lanes(const std::vector<ExprId>& factors, const std::vector<Range>& along) const;
  bool by_runs() const;
  std::string inside(const Expr& access);
  bool along_depth(const std::vector<ExprId>& factors) const;
  std::string packed(const std::vector<ExprId>& factors);

  // contraction_finish.cpp
  void finish();
  void finish_lanes();
  void finish_elements();
  void finish_element(const std::string& sum, bool lanes);
  void store_finished(const Statement&, const std::string& value, bool lanes);
  bool finish_by_lanes() const;

  const Contraction& contraction_;
  Printer& printer_;
  const Program& program_;
  const Choices& choices_;
  Code& code_;
  Code& functions_;
  std::vector<Workspace>& workspace_;
  Products products_;
  int mr_, nr_;
  std::int64_t whole_m_ = 0, whole_n_ = 0;  // the largest blocks, in whole tiles
  std::string rows_, columns_, depth_, tile_, block_m_, block_n_, block_k_, pack_a_, pack_b_, finish_;
  std::string a_panels_, b_panels_, kept_sums_, a_panel_, b_panel_, sums_;
  std::vector<std::string> scoped_;
};

}  // namespace ako::synth
