// SPDX-License-Identifier: Apache-2.0
#include "toolchain/hip/hip_toolchain.h"

#include <fmt/format.h>

#include <algorithm>

namespace ako {
namespace fs = std::filesystem;
namespace {

using HipKind = HipCompiler::Kind;

constexpr std::string_view hip_flags[] = {
    "-O1",
    "-O2",
    "-O3",
    "-Os",
    "-ffast-math",
    "-fno-fast-math",
    "-fassociative-math",
    "-ffinite-math-only",
    "-fno-signed-zeros",
    "-freciprocal-math",
    "-funsafe-math-optimizations",
    "-ffp-contract=off",
    "-ffp-contract=on",
    "-ffp-contract=fast",
    "-fgpu-flush-denormals-to-zero",
    "-fgpu-approx-transcendentals",
    "-fhip-fp32-correctly-rounded-divide-sqrt",
    "-fno-hip-fp32-correctly-rounded-divide-sqrt",
    "-munsafe-fp-atomics",
    "-mno-unsafe-fp-atomics",
    "-funroll-loops",
    "-fno-unroll-loops",
    "-std=c++17",
    "-std=c++20",
    "-std=c++23",
};
constexpr std::string_view hip_numbered_flags[] = {"--gpu-max-threads-per-block="};

/// PREFIX/bin/clang needs PREFIX/lib; zig needs what is beside it.
fs::path prefix_of(const HipCompiler& compiler) {
  std::error_code code;
  fs::path folder = fs::weakly_canonical(compiler.path, code).parent_path();
  return compiler.kind == HipKind::zig ? folder : folder.parent_path();
}

}  // namespace

Result<std::unique_ptr<Toolchain>> HipToolchain::find() {
  AKO_TRY(DeviceToolchainOptions options, DeviceToolchainOptions::find());
  std::vector<HipCompiler> compilers = find_hip_compilers();
  if (compilers.empty())
    return fail(ErrorKind::not_found, "there is no compiler for AMD GPUs",
                "for gfx942: apt-get install clang-19 lld-19; for gfx950 too: pip install ziglang into the "
                "active virtual "
                "environment, or ROCm 7; or set AKO_HIP_CLANG");
  return std::make_unique<HipToolchain>(std::move(compilers), std::move(options));
}

HipToolchain::HipToolchain(std::vector<HipCompiler> compilers, DeviceToolchainOptions options)
    : DeviceToolchain(std::move(options)), compilers_(std::move(compilers)) {}

std::string HipToolchain::identity() const {
  std::vector<std::string> all;
  for (const HipCompiler& each : compilers_)
    all.push_back(fmt::format("{} {}", each.version, each.identity.short_hex()));
  return fmt::format("{}", fmt::join(all, "; "));
}

const HipCompiler* HipToolchain::compiler_for(std::string_view target) const {
  auto found = std::find_if(compilers_.begin(), compilers_.end(),
                            [&](const HipCompiler& each) { return each.builds(target); });
  return found == compilers_.end() ? nullptr : &*found;
}

bool HipToolchain::builds(Language language, const TargetId& target) const {
  return language == Language::hip && compiler_for(target) != nullptr;
}

Result<void> HipToolchain::check_flags(const std::vector<std::string>& flags) const {
  return check_allowed_flags(flags, hip_flags, hip_numbered_flags);
}

std::vector<std::string> HipToolchain::clang_options(const HipCompiler& compiler, const Candidate& candidate,
                                                     const TargetId& target) const {
  std::vector<std::string> options = {
      "-x", "hip", "--cuda-device-only", fmt::format("--offload-arch={}", target), "-O3",
      "--no-gpu-bundle-output", "-std=c++20", "-Wall", "-Wno-unused-function", "-fdiagnostics-color=never",
      // The plain atomic instructions: a plan's buffers are ordinary device memory.
      "-munsafe-fp-atomics", "-ferror-limit=20", "-I."};
  if (compiler.rocm.empty()) {
    options.insert(options.end(), {"-nogpuinc", "-nogpulib"});
    options.push_back("-I" + (this->options().device_include / "hip_alone").string());
  } else {
    options.push_back("--rocm-path=" + compiler.rocm.string());
  }
  options.insert(options.end(), candidate.flags.begin(), candidate.flags.end());
  for (std::string& definition : tunable_definitions(candidate)) options.push_back(std::move(definition));
  options.push_back("-I" + this->options().device_include.string());
  return options;
}

Result<HipToolchain::Recipe> HipToolchain::recipe(const Candidate& candidate, const TargetId& target,
                                                  const std::string& unit, const std::string& code) const {
  const HipCompiler* compiler = compiler_for(target);
  if (!compiler)
    return fail(ErrorKind::unsupported, fmt::format("no compiler here knows {}", target),
                "pip install ziglang, or install ROCm 7");
  Recipe recipe;
  recipe.compiler = compiler->version;
  recipe.identity = compiler->identity;
  recipe.readable = {compiler->path};
  if (fs::path prefix = prefix_of(*compiler); !prefix.string().starts_with("/usr") && prefix != "/")
    recipe.readable.push_back(prefix);
  if (!compiler->rocm.empty()) recipe.readable.push_back(compiler->rocm);
  const std::string path = compiler->path.string();
  std::vector<std::string> options = clang_options(*compiler, candidate, target);
  auto with_options = [&](std::vector<std::string> command, std::vector<std::string> rest) {
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), rest.begin(), rest.end());
    return command;
  };
  if (compiler->kind == HipKind::clang) {
    recipe.commands = {with_options({path}, {unit, "-o", code})};
  } else if (compiler->kind == HipKind::zig) {
    recipe.environment = {{"ZIG_GLOBAL_CACHE_DIR", "/tmp/zig"}, {"ZIG_LOCAL_CACHE_DIR", "/tmp/zig"}};
    const std::string assembly = code + ".s", object = code + ".o";
    recipe.commands = {with_options({path, "clang"}, {"-S", unit, "-o", assembly}),
                       {path, "clang", "-target", "amdgcn-amd-amdhsa", "-mcpu=" + target, "-c", "-x",
                        "assembler", assembly, "-o", object},
                       {path, "ld.lld", "-shared", "--no-undefined", object, "-o", code}};
  } else {
    options = {fmt::format("--offload-arch={}", target), "-std=c++20", "-I.",
               "-I" + this->options().device_include.string()};
    for (std::string& definition : tunable_definitions(candidate)) options.push_back(std::move(definition));
    recipe.commands = {with_options({this->options().guest.string(), "hiprtc", path, "compile", unit, code},
                                    candidate.flags)};
    recipe.readable.push_back(this->options().guest);
    recipe.source_is_wrong = 1;
  }
  return recipe;
}

}  // namespace ako
