// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor_checks.h"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>

#include "base/files.h"
#include "base/text.h"
#include "cli/doctor_gpu.h"
#include "sandbox/sandbox.h"
#include "target/host/host.h"
#include "target/host/run_guest.h"
#include "toolchain/host/host_toolchain.h"

namespace ako {
namespace fs = std::filesystem;

std::string_view name_of(Health health) {
  switch (health) {
    case Health::works:
      return "works";
    case Health::limited:
      return "limited";
    case Health::missing:
      return "missing";
    case Health::absent:
      return "absent";
  }
  return "missing";
}

namespace {

void check_compilers(std::vector<Check>& checks) {
  bool any = false;
  for (const std::string& name : compiler_names()) {
    auto compiler = identify_compiler(name);
    if (compiler) {
      checks.push_back({"compilers", name, Health::works,
                        fmt::format("{}{}", compiler->version, any ? "" : ", used for kernels"), ""});
      any = true;
    } else {
      checks.push_back({"compilers", name, Health::absent, "not found", ""});
    }
  }
  if (any) return;
  for (Check& check : checks) {
    check.health = Health::missing;
    check.advice = "apt-get install g++, or set AKO_CXX to a g++ or clang++";
  }
}

/// A kernel that needs OpenMP, through all that a candidate goes through.
Result<Artifact> compile_sample() {
  AKO_TRY(TemporaryFolder cache, TemporaryFolder::create("ako-doctor"));
  AKO_TRY(Compiler compiler, find_compiler());
  AKO_TRY(fs::path header, find_resource("guest/include/ako/kernel.h"));
  HostToolchainOptions options;
  options.guest_include = header.parent_path().parent_path();
  options.cache = cache.path();
  HostToolchain toolchain(std::move(compiler), std::move(options));
  auto problem = parse_problem(
      "problem: twice\ndims: {N: elements}\ntensors:\n  x: {type: f32, shape: [N]}\n  y: {type: f32, shape: "
      "[N]}\n"
      "math: |\n  y[n] = 2 * x[n]\nshapes:\n  - {N: 64}\ntolerance: {snr_db: 100}\n",
      "doctor.yaml");
  if (!problem) return std::unexpected(problem.error().front());
  Candidate candidate;
  candidate.sources = {{"twice.cpp",
                        "#include <omp.h>\n#include \"ako/kernel.h\"\n"
                        "extern \"C\" void twice(const float* x, float* y, long n) {\n"
                        "#pragma omp parallel for num_threads(omp_get_max_threads())\n"
                        "  for (long i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n"}};
  candidate.plan = default_plan(*problem);
  TargetFacts facts;
  facts.id = "host";
  AKO_TRY(BuildResult result, toolchain.build(candidate, *problem, facts));
  if (auto* failure = std::get_if<CompileFailure>(&result))
    return fail(ErrorKind::unavailable, failure->log,
                "install the compiler's OpenMP: libgomp for g++, libomp-19-dev for clang++-19");
  return std::get<Artifact>(result);
}

void check_compiling(std::vector<Check>& checks) {
  auto artifact = compile_sample();
  checks.push_back(artifact ? Check{"compilers", "a C++ kernel with OpenMP", Health::works,
                                    fmt::format("compiled in its guest in {}",
                                                to_text(Microseconds(Seconds(artifact->compile_seconds)))),
                                    ""}
                            : Check{"compilers", "a C++ kernel with OpenMP", Health::missing,
                                    artifact.error().what, artifact.error().advice});
}

void check_confinement(std::vector<Check>& checks) {
  const Confinement& found = confinement();
  auto add = [&](const char* name, bool works, const char* meaning, const char* advice) {
    checks.push_back({"sandbox", name, works ? Health::works : Health::limited,
                      works ? meaning : fmt::format("refused ({})", found.missing), works ? "" : advice});
  };
  add("namespaces", found.namespaces, "guests see no files, processes or network but their own",
      "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, "
      "kernel.apparmor_restrict_unprivileged_userns=0; "
      "in a container: --security-opt seccomp=unconfined. Until then verdicts have the grade 'unconfined'");
  add("system-call filter", found.seccomp, "guests make only the system calls on a list",
      "a kernel with CONFIG_SECCOMP_FILTER. Until then verdicts have the grade 'unconfined'");
  auto guest = host::RunGuest::start_empty({});
  checks.push_back(
      guest ? Check{"sandbox", "an empty kernel", Health::works,
                    fmt::format("runs in its guest, grade '{}'", name_of(guest->trust())), ""}
            : Check{"sandbox", "an empty kernel", Health::missing, guest.error().what, guest.error().advice});
}

void check_targets(std::vector<Check>& checks) {
  checks.push_back({"targets", "host", Health::works, "C++ kernels on this machine's processors", ""});
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

Setting setting(const char* name, std::string fallback, const char* meaning,
                std::string_view default_origin = "default") {
  std::string value = environment(name);
  if (value.empty()) return {name, std::move(fallback), std::string(default_origin), meaning};
  return {name, value, "environment", meaning};
}

Bytes bytes_below(const fs::path& folder) {
  Bytes total;
  std::error_code code;
  for (auto it =
           fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, code);
       !code && it != fs::recursive_directory_iterator(); it.increment(code))
    if (it->is_regular_file(code))
      if (auto size = it->file_size(code); !code) total += Bytes{static_cast<std::int64_t>(size)};
  return total;
}

/// The folder itself, or the nearest one above that is there.
fs::path existing(fs::path path) {
  std::error_code code;
  while (!fs::exists(path, code) && path.has_parent_path() && path != path.parent_path())
    path = path.parent_path();
  return path;
}

Folder folder(std::string name, fs::path path, bool own) {
  Folder found{std::move(name), std::move(path), false, {}, {}};
  fs::path there = existing(found.path);
  found.writable = ::access(there.c_str(), W_OK | X_OK) == 0;
  struct statvfs status{};
  if (::statvfs(there.c_str(), &status) == 0)
    found.available = {static_cast<std::int64_t>(status.f_bavail * status.f_frsize)};
  if (own) found.used = bytes_below(found.path);
  return found;
}

fs::path temporary_folder() {
  std::error_code code;
  fs::path path = fs::temp_directory_path(code);
  return code ? "/tmp" : path;
}

}  // namespace

std::vector<Check> run_checks() {
  std::vector<Check> checks;
  check_compilers(checks);
  check_compiling(checks);
  check_confinement(checks);
  check_targets(checks);
  check_gpus(checks);
  return checks;
}

std::vector<Setting> all_settings() {
  const char* cache_origin = environment("XDG_CACHE_HOME").empty() ? "default" : "XDG_CACHE_HOME";
  const char* data_origin = environment("XDG_DATA_HOME").empty() ? "default" : "XDG_DATA_HOME";
  return {setting("AKO_CXX", "g++, else clang++", "the compiler of kernels and references"),
          setting("AKO_CACHE_DIR", cache_folder().string(), "compiled code; may be deleted at any time",
                  cache_origin),
          setting("AKO_DATA_DIR", data_folder().string(), "measurements of this machine, tips", data_origin),
          setting("TMPDIR", temporary_folder().string(), "scratch folders of compilers"),
          setting("NO_COLOR", "", "when set, no colours")};
}

std::vector<Folder> all_folders() {
  return {folder("cache", cache_folder(), true), folder("data", data_folder(), true),
          folder("temporary", temporary_folder(), false)};
}

}  // namespace ako
