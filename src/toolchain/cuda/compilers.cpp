// SPDX-License-Identifier: Apache-2.0
#include "toolchain/cuda/compilers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/files.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "toolchain/compile_guest.h"
#include "toolchain/device/python_packages.h"

namespace ako {
namespace fs = std::filesystem;
namespace {

constexpr const char* how_to_install =
    "for NVRTC alone: pip install nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cuda-cccl into the active "
    "virtual "
    "environment; or install the CUDA toolkit; or set AKO_CUDA to its folder";

bool is_there(const fs::path& path) {
  std::error_code code;
  return fs::exists(path, code);
}

/// The entries of a folder whose names begin so, the highest last component first.
std::vector<fs::path> entries(const fs::path& folder, std::string_view start) {
  std::vector<fs::path> found;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(folder, code))
    if (entry.path().filename().string().starts_with(start)) found.push_back(entry.path());
  std::sort(found.rbegin(), found.rend());
  return found;
}

/// libnvrtc.so.13, .so.13.0.48 or .so; not libnvrtc-builtins, libnvrtc_static or the stripped .alt variants.
std::vector<fs::path> nvrtc_libraries(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const char* name : {"lib", "lib64", "lib/x86_64-linux-gnu", "targets/x86_64-linux/lib"})
    for (const fs::path& file : entries(folder / name, "libnvrtc.so"))
      if (file.filename().string().find(".alt.") == std::string::npos) found.push_back(file);
  return found;
}

std::vector<fs::path> include_folders(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const char* name : {"include", "targets/x86_64-linux/include"}) {
    if (!is_there(folder / name / "cuda.h") && !is_there(folder / name / "cuda_fp16.h")) continue;
    found.push_back(folder / name);
    if (is_there(folder / name / "cccl")) found.push_back(folder / name / "cccl");
    break;
  }
  return found;
}

std::string hash_of_file(const fs::path& path) {
  std::error_code code;
  // Libraries of 100 MB: size and time tell one from another, as make does.
  return fmt::format("{} {} {}", fs::weakly_canonical(path, code).string(), fs::file_size(path, code),
                     fs::last_write_time(path, code).time_since_epoch().count());
}

Policy asking_policy(const CudaCompiler& compiler, const DeviceToolchainOptions& options,
                     const fs::path& scratch) {
  Policy policy;
  policy.filter = Filter::compile;
  policy.readable = system_folders();
  policy.readable.insert(policy.readable.end(), compiler.readable.begin(), compiler.readable.end());
  policy.scratch = scratch;
  policy.memory = options.memory;
  policy.environment = {{"PATH", "/usr/bin:/bin"}, {"LC_ALL", "C"}};
  return policy;
}

Result<CudaCompiler> identify_nvrtc(CudaCompiler compiler, const DeviceToolchainOptions& options) {
  AKO_TRY(TemporaryFolder scratch, TemporaryFolder::create("ako-nvrtc"));
  Command command;
  command.argv = {options.guest.string(), "nvrtc", compiler.path.string(), "version"};
  command.folder = scratch.path();
  command.wall_limit = Seconds(20);
  AKO_TRY(Exit exit, options.run(command, asking_policy(compiler, options, scratch.path())));
  if (!exit.ok() || exit.output.empty())
    return fail(ErrorKind::unavailable,
                fmt::format("{} does not answer: {}", compiler.path.string(), printable(exit.errors)),
                how_to_install);
  std::string line = printable(exit.output.substr(0, exit.output.find('\n')));
  compiler.version = "NVRTC " + line.substr(0, line.find(' '));
  std::string_view rest = std::string_view(line).substr(std::min(line.find(' '), line.size()));
  while (!rest.empty()) {
    int number = 0;
    rest.remove_prefix(1);
    auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error != std::errc()) break;
    compiler.architectures.push_back(number);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  }
  compiler.identity = Hasher("nvrtc/1").add(line).add(hash_of_file(compiler.path)).finish();
  return compiler;
}

Result<CudaCompiler> identify_nvcc(CudaCompiler compiler) {
  Command command;
  command.argv = {compiler.path.string(), "--version"};
  command.wall_limit = Seconds(20);
  AKO_TRY(Exit exit, run(command));
  std::size_t at = exit.output.find("release ");
  if (!exit.ok() || at == std::string::npos)
    return fail(ErrorKind::unavailable, fmt::format("{} --version does not answer", compiler.path.string()),
                how_to_install);
  std::string release = exit.output.substr(at + 8);
  compiler.version = "nvcc " + printable(release.substr(0, release.find_first_of(",\n")));
  compiler.identity = Hasher("nvcc/1").add(exit.output).add(hash_of_file(compiler.path)).finish();
  return compiler;
}

}  // namespace

std::vector<fs::path> cuda_folders() {
  if (const char* chosen = std::getenv("AKO_CUDA"); chosen && *chosen) return {chosen};
  std::vector<fs::path> folders;
  auto add = [&](const fs::path& folder) {
    if (is_there(folder) && std::find(folders.begin(), folders.end(), folder) == folders.end())
      folders.push_back(folder);
  };
  // Wheels: site-packages/nvidia/cu13/{bin,lib,include}, before CUDA 13 nvidia/cuda_nvrtc/lib and the like.
  for (const fs::path& packages : python_package_folders())
    for (const fs::path& folder : entries(packages / "nvidia", "cu")) add(folder);
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* value = std::getenv(name); value && *value) add(value);
  for (const fs::path& folder : entries("/usr/local", "cuda")) add(folder);
  add("/usr");
  return folders;
}

std::vector<CudaCompiler> cuda_compilers_in(const fs::path& folder) {
  std::vector<CudaCompiler> found;
  std::vector<fs::path> includes = include_folders(folder);
  if (includes.empty())
    includes = include_folders(folder.parent_path() / "cuda_runtime");  // wheels before CUDA 13
  auto add = [&](CudaCompiler::Kind kind, const fs::path& path) {
    CudaCompiler compiler;
    compiler.kind = kind;
    compiler.path = path;
    compiler.includes = includes;
    std::error_code code;
    compiler.readable = {folder};
    // /usr/local/cuda is often a link, its libraries links again.
    if (fs::path real = fs::canonical(path, code).parent_path(); !code && real != path.parent_path())
      compiler.readable.push_back(real);
    for (const fs::path& include : includes) compiler.readable.push_back(include);
    found.push_back(std::move(compiler));
  };
  for (const fs::path& library : nvrtc_libraries(folder)) add(CudaCompiler::Kind::nvrtc, library);
  if (is_there(folder / "bin/nvcc")) add(CudaCompiler::Kind::nvcc, folder / "bin/nvcc");
  return found;
}

Result<CudaCompiler> identify(CudaCompiler compiler, const DeviceToolchainOptions& options) {
  return compiler.kind == CudaCompiler::Kind::nvrtc ? identify_nvrtc(std::move(compiler), options)
                                                    : identify_nvcc(std::move(compiler));
}

Result<CudaCompiler> find_cuda_compiler(const DeviceToolchainOptions& options) {
  Result<CudaCompiler> found = fail(ErrorKind::not_found, "there is no CUDA compiler", how_to_install);
  std::vector<CudaCompiler> all;
  for (const fs::path& folder : cuda_folders())
    for (CudaCompiler& each : cuda_compilers_in(folder)) all.push_back(std::move(each));
  std::stable_sort(all.begin(), all.end(),
                   [](const CudaCompiler& a, const CudaCompiler& b) { return a.kind < b.kind; });
  for (CudaCompiler& each : all)
    if (found = identify(std::move(each), options); found) break;
  return found;
}

}  // namespace ako
