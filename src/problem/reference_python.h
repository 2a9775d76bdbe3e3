// SPDX-License-Identifier: Apache-2.0
// `reference: {python: file.py}`: a Python function instead of math. A process of its own, on the trusted
// side, loads the file once and is called with the inputs as NumPy arrays of float64, int64 or bool
// (docs/problems.md).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "problem/problem.h"

namespace ako {

/// The file beside the problem file.
std::filesystem::path python_file(const Problem&);

/// Movable; calls take turns.
class PythonReference {
 public:
  /// Starts $AKO_PYTHON, else python3, loads the file and calls the function once, on the smallest shape.
  /// Errors, all with advice: no Python or NumPy (unsupported), no file (not_found), everything that the file
  /// does wrong (invalid_input).
  static Result<PythonReference> start(const Problem&);
  PythonReference(PythonReference&&) noexcept;
  PythonReference& operator=(PythonReference&&) noexcept;
  ~PythonReference();

  /// As Reference::evaluate.
  Result<std::vector<std::vector<double>>> evaluate(const Problem&, const Shape&,
                                                    std::span<const std::span<const std::byte>> inputs) const;

 private:
  struct State;
  explicit PythonReference(std::unique_ptr<State>);
  std::unique_ptr<State> state_;
};

}  // namespace ako
