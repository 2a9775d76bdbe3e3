// SPDX-License-Identifier: Apache-2.0
// The small test that goes with an exported kernel: a C++ program without dependencies.
#pragma once

#include <string>
#include <vector>

#include "problem/problem.h"

namespace ako {

struct TestTensor {
  std::string name;
  ScalarType type = ScalarType::f32;
  TensorRole role = TensorRole::input;
  std::int64_t count = 0;
  Tolerance tolerance;
};

/// `arguments`: what PROBLEM_run is called with, in order: tensors are `void*` there, so with a cast. It
/// reads test_data.bin beside it.
std::string export_test_source(const Problem&, const Shape&, const std::vector<TestTensor>&,
                               const std::vector<std::string>& arguments);

}  // namespace ako
