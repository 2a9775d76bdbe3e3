// SPDX-License-Identifier: Apache-2.0
// Emitted kernels, compiled and run in this process on memory that ends at a guard page, compared with the
// fp64 reference.
#pragma once

#include <string>
#include <vector>

#include "kernel/candidate.h"
#include "problem/problem.h"
#include "synth/schedule.h"
#include "target/facts.h"

namespace ako::testing {

/// An imaginary machine with this one's instruction set: two cores, 512-bit vectors where this one has them.
TargetFacts test_target();
/// … with vectors of so many bits and nothing that came after them.
TargetFacts narrow_target(int vector_bits);

Problem shipped(const std::string& name, const std::string& shapes);

struct Sample {
  std::string label;
  Candidate candidate;
};

/// Schedules of a problem's space: naive, start, and `more` drawn by a fixed seed, all valid and different.
std::vector<Sample> sample_schedules(const Problem&, int more, unsigned seed,
                                     const TargetFacts& target = test_target());

/// Compiles all samples into one shared object, runs each on every shape and compares. Empty: all agree.
std::string check_samples(const Problem&, const std::vector<Sample>&, const std::string& march = "native");

}  // namespace ako::testing
