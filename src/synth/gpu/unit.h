// SPDX-License-Identifier: Apache-2.0
// A translation unit being written: kernels one after the other, the launches that run them, and the memory
// that passes between them.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "kernel/candidate.h"
#include "synth/gpu/expressions.h"

namespace ako::synth::gpu {

/// One kernel and its launch. Extents are in the launch plan's notation.
struct Kernel {
  std::string name;
  int threads = 256;  // of a block, at most
  int at_least = 0;   // blocks that shall fit a compute unit; 0: the compiler decides
  std::array<std::string, 3> grid{"1", "1", "1"};
  std::array<std::string, 3> block{"256", "1", "1"};
  std::string shared = "0";  // bytes, dynamic
  int vector = 1;  // above one: the body is a template over V, this where `vector_when` holds, else 1
  std::string vector_when;  // an expression over dims
  std::string comment;
  Code body;
  Names before;  // names that were taken when it began
};

class Unit {
 public:
  Unit(const Problem&, const Program&, Numbers);

  const Program& program() const { return program_; }
  Expressions& expressions() { return expressions_; }
  /// A kernel's body to write into: indented, and where expressions put their loops.
  Kernel begin(std::string_view name, std::string comment);
  /// Finds out by the body's words what the kernel must be given.
  void end(Kernel);
  /// Text ahead of the kernels.
  Code& functions() { return functions_; }

  /// Memory between launches; `elements` in the plan's notation. Returns the pointer's name.
  std::string workspace(std::string_view name, ScalarType, const std::string& elements);
  /// Whole temporaries.
  void workspace_for(TensorId);
  bool has_memory(TensorId) const;

  /// Offsets and counts fit in 32 bits on every shape.
  bool small() const { return small_; }
  std::string extent(const Range&) const;                // in the plan's notation
  std::string extents(const std::vector<Range>&) const;  // their product
  std::string elements(TensorId) const;

  /// The reference's result of a tensor; expressions read and write it there from now on.
  void expect(TensorId);
  const std::vector<std::pair<std::string, TensorId>>& expected() const { return expected_; }

  std::string source(const std::string& head) const;
  LaunchPlan plan() const { return plan_; }

 private:
  struct Parameter {
    std::string name, declaration, argument;
    bool narrow = false;  // a dim that kernels see as index_t
  };
  const Problem& problem_;
  const Program& program_;
  Expressions expressions_;
  bool small_ = true;
  std::vector<Parameter> parameters_;
  std::vector<std::pair<std::string, TensorId>> expected_;
  std::set<TensorId> has_memory_;
  LaunchPlan plan_;
  Code functions_;
  std::string kernels_;
};

/// An integer expression over dims in the launch plan's notation.
std::string plan_expression(const Program&, ExprId);

}  // namespace ako::synth::gpu
