// SPDX-License-Identifier: Apache-2.0
#include "toolchain/hip/compilers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/subprocess.h"
#include "base/text.h"
#include "toolchain/device/python_packages.h"

namespace ako {
namespace fs = std::filesystem;
namespace {

bool found_at(const fs::path& path) {
  std::error_code code;
  return fs::exists(path, code);
}

std::string setting_of(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::vector<fs::path> rocm_folders() {
  if (std::string chosen = setting_of("ROCM_PATH"); !chosen.empty()) return {chosen};
  std::vector<fs::path> versions, folders;
  if (found_at("/opt/rocm")) folders.emplace_back("/opt/rocm");
  std::error_code code;
  for (const auto& entry : fs::directory_iterator("/opt", code))
    if (entry.path().filename().string().starts_with("rocm-")) versions.push_back(entry.path());
  std::sort(versions.rbegin(), versions.rend());
  folders.insert(folders.end(), versions.begin(), versions.end());
  return folders;
}

HipCompiler hip_compiler(HipCompiler::Kind kind, fs::path path, fs::path rocm = {}) {
  HipCompiler made;
  made.kind = kind;
  made.path = std::move(path);
  made.rocm = std::move(rocm);
  return made;
}

void add_clangs_in_path(std::vector<HipCompiler>& out) {
  for (int version = 30; version >= 17; --version)
    if (auto path = find_program(fmt::format("clang-{}", version)))
      out.push_back(hip_compiler(HipCompiler::Kind::clang, *path));
  if (auto path = find_program("clang")) out.push_back(hip_compiler(HipCompiler::Kind::clang, *path));
}

void add_zigs(std::vector<HipCompiler>& out) {
  for (const fs::path& packages : python_package_folders())
    if (found_at(packages / "ziglang/zig"))
      out.push_back(hip_compiler(HipCompiler::Kind::zig, packages / "ziglang/zig"));
  if (auto path = find_program("zig")) out.push_back(hip_compiler(HipCompiler::Kind::zig, *path));
}

/// The number after "clang version ".
int major_version(std::string_view text) {
  constexpr std::string_view before = "clang version ";
  std::size_t at = text.find(before);
  int number = 0;
  if (at != std::string_view::npos) {
    std::string_view rest = text.substr(at + before.size());
    std::from_chars(rest.data(), rest.data() + rest.size(), number);
  }
  return number;
}

Result<HipCompiler> identify_hiprtc(HipCompiler found) {
  std::error_code code;
  fs::path real = fs::canonical(found.path, code);  // libhiprtc.so.7.0.51831: the name carries the version
  found.version = "hipRTC " + printable(real.filename().string());
  found.identity = Hasher("hiprtc/1")
                       .add(real.string())
                       .add(static_cast<std::int64_t>(fs::file_size(real, code)))
                       .finish();
  return found;
}

}  // namespace

bool HipCompiler::builds(std::string_view target) const {
  if (target != "gfx942" && target != "gfx950") return false;
  return kind == HipCompiler::Kind::hiprtc || major >= (target == "gfx950" ? 20 : 17);
}

Result<HipCompiler> identify_hip_compiler(HipCompiler found) {
  if (found.kind == HipCompiler::Kind::hiprtc) return identify_hiprtc(std::move(found));
  Command command;
  command.argv = {found.path.string(), "--version"};
  if (found.kind == HipCompiler::Kind::zig) command.argv.insert(command.argv.begin() + 1, "clang");
  command.wall_limit = Seconds(20);
  AKO_TRY(Exit exit, run(command));
  found.major = major_version(exit.output);
  if (!exit.ok() || found.major == 0)
    return fail(ErrorKind::unavailable, fmt::format("{} is no clang that answers", found.path.string()),
                "set AKO_HIP_CLANG to a clang of version 19 or later");
  found.version = printable(exit.output.substr(0, exit.output.find('\n')));
  std::error_code code;
  found.identity =
      Hasher("hip-clang/1").add(fs::weakly_canonical(found.path, code).string()).add(exit.output).finish();
  return found;
}

std::vector<HipCompiler> find_hip_compilers() {
  std::vector<HipCompiler> rocms, others, runtimes;
  if (std::string chosen = setting_of("AKO_HIP_CLANG"); !chosen.empty()) {
    bool zig = fs::path(chosen).filename() == "zig";
    rocms.push_back(hip_compiler(zig ? HipCompiler::Kind::zig : HipCompiler::Kind::clang, chosen));
  } else {
    for (const fs::path& folder : rocm_folders()) {
      for (const char* name : {"lib/llvm/bin/clang", "llvm/bin/clang"})
        if (found_at(folder / name)) {
          rocms.push_back(hip_compiler(HipCompiler::Kind::clang, folder / name, folder));
          break;
        }
      if (found_at(folder / "lib/libhiprtc.so"))
        runtimes.push_back(hip_compiler(HipCompiler::Kind::hiprtc, folder / "lib/libhiprtc.so", folder));
    }
    add_clangs_in_path(others);
    add_zigs(others);
  }
  std::vector<HipCompiler> found;
  auto ask = [&](std::vector<HipCompiler>& some) {
    std::vector<HipCompiler> answered;
    for (HipCompiler& each : some)
      if (auto known = identify_hip_compiler(std::move(each))) answered.push_back(std::move(*known));
    std::stable_sort(answered.begin(), answered.end(),
                     [](const HipCompiler& a, const HipCompiler& b) { return a.major > b.major; });
    for (HipCompiler& each : answered)
      if (std::none_of(found.begin(), found.end(),
                       [&](const HipCompiler& other) { return other.identity == each.identity; }))
        found.push_back(std::move(each));
  };
  ask(rocms);
  ask(others);
  ask(runtimes);
  return found;
}

}  // namespace ako
