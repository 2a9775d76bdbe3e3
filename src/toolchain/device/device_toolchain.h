// SPDX-License-Identifier: Apache-2.0
// What the toolchains for GPUs share: a candidate's sources go into a compile guest, a code object comes out,
// and it is held against the plan before anyone launches it.
#pragma once

#include <functional>
#include <map>

#include "sandbox/sandbox.h"
#include "toolchain/compile_cache.h"
#include "toolchain/host/wrapper.h"
#include "toolchain/toolchain.h"

namespace ako {

struct DeviceToolchainOptions {
  std::filesystem::path device_include;  // ako_device.h is in it
  std::filesystem::path guest;           // ako-guest-rtc
  std::filesystem::path cache;
  Seconds wall_limit{60};
  Bytes memory = gibibytes(16);  // of address space: run-time compilers reserve far more than they use
  Bytes largest_code = mebibytes(64);
  /// Where the outside world begins: runs the compiler. Tests put a fake in its place.
  std::function<Result<Exit>(const Command&, const Policy&)> run = run_confined;

  /// ako's own headers and guest, the user's cache. Error: one of them is missing.
  static Result<DeviceToolchainOptions> find();
};

class DeviceToolchain : public Toolchain {
 public:
  explicit DeviceToolchain(DeviceToolchainOptions);
  Result<BuildResult> build(const Candidate&, const Problem&, const TargetFacts&) override;

 protected:
  /// How one candidate is compiled: commands one after another in a folder that holds the sources; the last
  /// leaves `code`.
  struct Recipe {
    std::vector<std::vector<std::string>> commands;
    std::vector<std::filesystem::path> readable;  // besides the system's folders and ako's headers
    std::map<std::string, std::string> environment;
    std::string compiler;     // for people
    Hash identity;            // of the compiler
    int source_is_wrong = 0;  // the exit status that says so; 0: any but 0
  };
  virtual Language language() const = 0;
  /// `unit` is the source to compile, `code` where the code object is to appear; both relative to the folder.
  virtual Result<Recipe> recipe(const Candidate&, const TargetId&, const std::string& unit,
                                const std::string& code) const = 0;
  virtual Result<void> check_flags(const std::vector<std::string>&) const = 0;
  const DeviceToolchainOptions& options() const { return options_; }

 private:
  struct Request;
  Result<BuildResult> compile(const Request&);
  Policy policy(const Recipe&, const std::filesystem::path& scratch) const;
  Hash key(const Candidate&, const TargetId&, const Recipe&) const;

  DeviceToolchainOptions options_;
  Hash headers_;
  CompileCache cache_;
};

/// -DNAME=VALUE for each tunable in force.
std::vector<std::string> tunable_definitions(const Candidate&);
/// Each flag is one of `allowed`, or begins with one of `numbered` and goes on with up to four digits.
Result<void> check_allowed_flags(const std::vector<std::string>& flags,
                                 std::span<const std::string_view> allowed,
                                 std::span<const std::string_view> numbered);

}  // namespace ako
