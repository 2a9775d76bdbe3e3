// SPDX-License-Identifier: Apache-2.0
// C++ for the machine ako runs on: g++ or clang++ in a compile guest, which sees the system's headers,
// guest/include and the candidate's own sources, and nothing else.
#pragma once

#include <functional>

#include "sandbox/sandbox.h"
#include "toolchain/compile_cache.h"
#include "toolchain/host/compiler.h"
#include "toolchain/toolchain.h"

namespace ako {

struct HostToolchainOptions {
  std::filesystem::path guest_include;  // ako/kernel.h is in it
  std::filesystem::path cache;
  Seconds wall_limit{60};
  Bytes memory = gibibytes(4);
  Bytes largest_code = mebibytes(64);
  /// Where the outside world begins: runs the compiler. Tests put a fake in its place.
  std::function<Result<Exit>(const Command&, const Policy&)> run = run_confined;
};

class HostToolchain : public Toolchain {
 public:
  /// With this machine's compiler, ako's guest headers and the user's cache. Error: one of them is missing.
  static Result<std::unique_ptr<Toolchain>> find();
  HostToolchain(Compiler, HostToolchainOptions);

  std::string name() const override { return "host"; }
  std::string identity() const override;
  bool builds(Language, const TargetId&) const override;
  Result<BuildResult> build(const Candidate&, const Problem&, const TargetFacts&) override;

 private:
  struct Request;
  Result<BuildResult> compile(const Request&);
  std::vector<std::string> command(const Candidate&) const;
  Hash key(const Candidate&, const std::string& wrapper, const TargetFacts&) const;
  Policy policy(const std::filesystem::path& scratch) const;

  Compiler compiler_;
  HostToolchainOptions options_;
  Hash headers_;  // of everything under guest_include
  CompileCache cache_;
};

}  // namespace ako
