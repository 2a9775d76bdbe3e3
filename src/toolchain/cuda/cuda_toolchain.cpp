// SPDX-License-Identifier: Apache-2.0
#include "toolchain/cuda/cuda_toolchain.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace ako {
namespace {

constexpr std::string_view cuda_flags[] = {
    "--use_fast_math",   "--ftz=true",      "--ftz=false",      "--prec-sqrt=true",
    "--prec-sqrt=false", "--prec-div=true", "--prec-div=false", "--fmad=true",
    "--fmad=false",      "--std=c++17",     "--std=c++20",      "--extra-device-vectorization",
    "--restrict",
};
constexpr std::string_view cuda_numbered_flags[] = {"--maxrregcount="};

/// 90 for "sm_90" and "sm_90a"; 0 for what is no CUDA target.
int architecture_of(std::string_view target) {
  if (!target.starts_with("sm_")) return 0;
  target.remove_prefix(3);
  int number = 0;
  auto [end, error] = std::from_chars(target.data(), target.data() + target.size(), number);
  std::string_view rest = target.substr(static_cast<std::size_t>(end - target.data()));
  bool fine = error == std::errc() && (rest.empty() || rest == "a" || rest == "f");
  return fine ? number : 0;
}

}  // namespace

Result<std::unique_ptr<Toolchain>> CudaToolchain::find() {
  AKO_TRY(DeviceToolchainOptions options, DeviceToolchainOptions::find());
  AKO_TRY(CudaCompiler compiler, find_cuda_compiler(options));
  return std::make_unique<CudaToolchain>(std::move(compiler), std::move(options));
}

CudaToolchain::CudaToolchain(CudaCompiler compiler, DeviceToolchainOptions options)
    : DeviceToolchain(std::move(options)), compiler_(std::move(compiler)) {}

std::string CudaToolchain::identity() const {
  return fmt::format("{} {}", compiler_.version, compiler_.identity.short_hex());
}

bool CudaToolchain::builds(Language language, const TargetId& target) const {
  int architecture = architecture_of(target);
  if (language != Language::cuda || architecture < 70) return false;
  const std::vector<int>& known = compiler_.architectures;
  return known.empty() || std::find(known.begin(), known.end(), architecture) != known.end();
}

Result<void> CudaToolchain::check_flags(const std::vector<std::string>& flags) const {
  return check_allowed_flags(flags, cuda_flags, cuda_numbered_flags);
}

Result<CudaToolchain::Recipe> CudaToolchain::recipe(const Candidate& candidate, const TargetId& target,
                                                    const std::string& unit, const std::string& code) const {
  Recipe recipe;
  recipe.compiler = compiler_.version;
  recipe.identity = compiler_.identity;
  recipe.readable = compiler_.readable;
  std::vector<std::string> options = {fmt::format("--gpu-architecture={}", target), "--std=c++20", "-I."};
  options.insert(options.end(), candidate.flags.begin(), candidate.flags.end());
  // NVRTC refuses an option given twice.
  if (std::any_of(candidate.flags.begin(), candidate.flags.end(),
                  [](const std::string& flag) { return flag.starts_with("--std="); }))
    std::erase(options, "--std=c++20");
  for (std::string& definition : tunable_definitions(candidate)) options.push_back(std::move(definition));
  options.push_back("-I" + this->options().device_include.string());
  for (const auto& include : compiler_.includes) options.push_back("-I" + include.string());

  std::vector<std::string> command;
  if (compiler_.kind == CudaCompiler::Kind::nvrtc) {
    command = {this->options().guest.string(), "nvrtc", compiler_.path.string(), "compile", unit, code};
    options.emplace_back("--device-int128");
    recipe.readable.push_back(this->options().guest);
    recipe.source_is_wrong = 1;
  } else {
    // Not -x cu for every unit: a file of several #include lines has no ending that nvcc knows.
    command = {compiler_.path.string(), "-cubin", "-x", "cu", unit, "-o", code};
  }
  command.insert(command.end(), options.begin(), options.end());
  recipe.commands = {std::move(command)};
  return recipe;
}

}  // namespace ako
