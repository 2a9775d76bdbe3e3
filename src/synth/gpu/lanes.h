// SPDX-License-Identifier: Apache-2.0
// Neighbouring elements of a row, V of them per thread: loaded and stored by one instruction each, computed
// one by one in an unrolled loop. Text that is written here stands inside a function template over V, so that
// one source has vectors where rows are multiples of V and single elements where they are not.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "synth/gpu/unit.h"

namespace ako::synth::gpu {

/// An access that moves from neighbour to neighbour with the lane index and depends on it in no other way.
struct LaneAccess {
  ExprId expr = -1;
  TensorId tensor = -1;
  std::vector<ExprId> prefix;  // the other subscripts
};

/// The accesses in a statement's value that whole vectors are loaded for.
std::vector<LaneAccess> lane_accesses(const Program&, const Statement&, const Range& lane);
bool is_lane_access(const Program&, TensorId, const std::vector<ExprId>& subscripts, const Range& lane);

/// Passes over chunks of V neighbours. Vectors may be kept from pass to pass, one for each chunk.
class LaneWriter {
 public:
  /// In scope where passes are written: `first`, the first element of the chunk; `chunk`, its number, where
  /// vectors are kept.
  LaneWriter(Unit& unit, bool streaming) : e_(unit.expressions()), streaming_(streaming) {}

  /// From now on this row is kept; returns the array's name. Declared by the caller.
  std::string keep(const std::string& row, TensorId);
  bool is_kept(const std::string& row) const { return kept_.contains(row); }
  /// The row's address up to the lane: "x + t * D".
  std::string row(TensorId, const std::vector<ExprId>& prefix);
  std::string element_type(TensorId id) { return e_.storage_type(id); }
  void load_kept(const std::string& row);

  /// Loads what the statement reads beside what is kept, and binds its lane index, for a loop over v that the
  /// caller writes. Expressions know these vectors until Expressions::known is set back.
  void open(const Statement&, const Range& lane);
  /// One statement's value for each lane, written to its target.
  void map(const Statement&, const Range& lane, bool to_memory);

 private:
  Expressions& e_;
  bool streaming_;
  std::map<std::string, std::string> kept_;  // array by row
  std::map<std::string, TensorId> tensor_of_;
  std::map<ExprId, std::string> texts_;
};

}  // namespace ako::synth::gpu
