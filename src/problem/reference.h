// SPDX-License-Identifier: Apache-2.0
// The fp64 reference of a problem: C++ generated from its math, compiled once (trusted side), cached by content.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "problem/problem.h"

namespace ako {

/// The C++ source: `extern "C" int ako_reference(const long* dims, const double* scalars, const void* const* inputs,
/// double* const* outputs, int threads)`. inputs: storage of every input and inout tensor in kernel_tensors order;
/// outputs: fp64 values of every output and inout tensor in that order, before rounding to the declared type (later
/// statements that read a declared tensor read it rounded). Returns 0, or 1 when memory ran out.
std::string reference_source(const Problem&);

/// Names what a reference computes: the problem, and the contents of its Python file if it has one.
Result<Hash> reference_key(const Problem&);

/// A loaded reference. Movable; thread-safe to call.
class Reference {
 public:
  /// Compiles reference_source with the host compiler ($AKO_CXX, else g++, else clang++-19, clang++) into
  /// cache_folder()/reference/HASH.so, or reuses it. A Python reference is a process instead: PythonReference says what
  /// can go wrong.
  static Result<Reference> load(const Problem&);
  Reference(Reference&&) noexcept;
  Reference& operator=(Reference&&) noexcept;
  ~Reference();

  /// `inputs` in kernel_tensors order (inputs and inouts). Returns one fp64 array per output and inout.
  Result<std::vector<std::vector<double>>> evaluate(const Shape&, std::span<const std::span<const std::byte>> inputs,
                                                    int threads = 0) const;

 private:
  struct Library;
  explicit Reference(std::unique_ptr<Library>);
  std::unique_ptr<Library> library_;
};

}  // namespace ako
