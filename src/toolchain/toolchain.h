// SPDX-License-Identifier: Apache-2.0
// Compilers behind one interface. A toolchain compiles in a sandboxed guest and caches by content.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "kernel/artifact.h"
#include "target/facts.h"

namespace ako {

/// The candidate's fault: what the compiler said, with the candidate's own file names, nothing of ako's
/// wrapper.
struct CompileFailure {
  std::string log;
  bool timed_out = false;
};
using BuildResult = std::variant<Artifact, CompileFailure>;

class Toolchain {
 public:
  virtual ~Toolchain() = default;
  virtual std::string name() const = 0;      // "host"
  virtual std::string identity() const = 0;  // compiler version and hash: part of the cache key
  virtual bool builds(Language, const TargetId&) const = 0;
  /// Error: infrastructure. Failure: the candidate's.
  virtual Result<BuildResult> build(const Candidate&, const Problem&, const TargetFacts&) = 0;
};

/// Every toolchain that works on this machine, in the order of preference; with a target, those for it alone
/// (asking every compiler for its version takes a quarter of a second). One line per toolchain in
/// toolchain.cpp.
std::vector<std::unique_ptr<Toolchain>> find_toolchains(const TargetId& target = {});
/// The one that builds this language for this target, or an error that says what to install.
Result<Toolchain*> choose_toolchain(std::span<const std::unique_ptr<Toolchain>>, Language, const TargetId&);

}  // namespace ako
