// SPDX-License-Identifier: Apache-2.0
#include "toolchain/device/device_toolchain.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.h"
#include "base/text.h"
#include "toolchain/compile_guest.h"
#include "toolchain/device/plan_check.h"
#include "toolchain/host/messages.h"

namespace ako {
namespace fs = std::filesystem;
namespace {

// Beside the sources, under names that check_source_path refuses to a candidate.
constexpr const char* all_units_file = "./-ako/all_units";
constexpr const char* device_code_file = "./-ako/code";

/// The sources that are compiled; the others are there to be included. Plain C++ ones only when there is no
/// other.
std::vector<std::string> units_of(const Candidate& candidate) {
  for (Language language : {candidate.language, Language::cpp}) {
    std::vector<std::string> units;
    for (const SourceFile& source : candidate.sources)
      if (language_of_file(source.path) == language) units.push_back(source.path);
    if (!units.empty()) return units;
  }
  return {};
}

}  // namespace

struct DeviceToolchain::Request {
  const Candidate& candidate;
  const TargetId& target;
  const std::vector<std::string>& units;
  const std::vector<KernelSignature>& kernels;
  const Recipe& recipe;
  Hash key;
};

Result<DeviceToolchainOptions> DeviceToolchainOptions::find() {
  DeviceToolchainOptions options;
  AKO_TRY(options.device_include, find_resource("guest/device"));
  AKO_TRY(options.guest, find_resource("ako-guest-rtc"));
  options.cache = cache_folder() / "device";
  return options;
}

DeviceToolchain::DeviceToolchain(DeviceToolchainOptions options)
    : options_(std::move(options)), headers_(hash_folder(options_.device_include)), cache_(options_.cache) {}

Hash DeviceToolchain::key(const Candidate& candidate, const TargetId& target, const Recipe& recipe) const {
  Hasher hasher("device-code/1");
  hasher.add(candidate.id()).add(target).add(recipe.identity).add(headers_);
  for (const auto& command : recipe.commands)
    for (const std::string& word : command) hasher.add(word);
  return hasher.finish();
}

Policy DeviceToolchain::policy(const Recipe& recipe, const fs::path& scratch) const {
  Policy policy;
  policy.filter = Filter::compile;
  policy.readable = system_folders();
  policy.readable.push_back(options_.device_include);
  policy.readable.insert(policy.readable.end(), recipe.readable.begin(), recipe.readable.end());
  policy.scratch = scratch;
  policy.memory = options_.memory;
  policy.cpu_limit = 2 * options_.wall_limit;
  policy.environment = {
      {"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"LC_ALL", "C"}, {"TMPDIR", "/tmp"}, {"HOME", "/tmp"}};
  if (!confinement().namespaces) policy.environment["TMPDIR"] = policy.environment["HOME"] = scratch.string();
  for (const auto& [name, value] : recipe.environment) policy.environment[name] = value;
  return policy;
}

Result<BuildResult> DeviceToolchain::build(const Candidate& candidate, const Problem& problem,
                                           const TargetFacts& facts) {
  if (!builds(candidate.language, facts.id))
    return fail(ErrorKind::unsupported, fmt::format("the toolchain {} does not build {} for {}", name(),
                                                    name_of(candidate.language), facts.id));
  if (auto fine = check_sources(candidate); !fine) return refusal(fine.error());
  // Sources without launches are ako's own: who launches them passes what they take.
  if (!candidate.plan.launches.empty())
    if (auto fine = check_plan(candidate.plan, problem, candidate.tunables); !fine)
      return refusal(fine.error());
  if (auto fine = check_flags(candidate.flags); !fine) return refusal(fine.error());
  auto kernels = signatures(candidate.plan, problem);
  if (!kernels) return refusal(kernels.error());
  std::vector<std::string> units = units_of(candidate);
  if (units.empty())
    return CompileFailure{fmt::format("error: no source is {}: one must end in {}\n",
                                      name_of(candidate.language),
                                      candidate.language == Language::cuda ? ".cu" : ".hip")};
  AKO_TRY(Recipe recipe,
          this->recipe(candidate, facts.id, units.size() == 1 ? units[0] : all_units_file, device_code_file));
  Request request{candidate, facts.id, units, *kernels, recipe, key(candidate, facts.id, recipe)};
  if (auto stored = cache_.find(request.key)) return *stored;
  return compile(request);
}

Result<BuildResult> DeviceToolchain::compile(const Request& request) {
  AKO_TRY(TemporaryFolder scratch, TemporaryFolder::create("ako-compile"));
  AKO_CHECK(create_folders(scratch.path() / "-ako"));
  for (const SourceFile& source : request.candidate.sources)
    AKO_CHECK(write_file(scratch.path() / source.path, source.text));
  std::string includes;
  for (const std::string& unit : request.units) includes += fmt::format("#include \"{}\"\n", unit);
  if (request.units.size() > 1) AKO_CHECK(write_file(scratch.path() / all_units_file, includes));

  Policy policy = this->policy(request.recipe, scratch.path());
  MessageContext context{{scratch.path().string() + "/", options_.device_include.string() + "/"}, {}};
  Artifact artifact;
  Seconds spent{0};
  for (const auto& words : request.recipe.commands) {
    Command command;
    command.argv = words;
    command.folder = scratch.path();
    command.wall_limit = options_.wall_limit;
    command.output_limit = mebibytes(1);
    AKO_TRY(Exit exit, options_.run(command, policy));
    spent += exit.wall;
    std::string log = readable_messages(uniform_messages(exit.errors), context);
    int wrong = request.recipe.source_is_wrong;
    if (wrong != 0 && exit.code != 0 && exit.code != wrong && exit.signal == 0 && !exit.timed_out)
      return fail(ErrorKind::unavailable, fmt::format("{} failed: {}", request.recipe.compiler, log),
                  "'ako doctor' shows which compilers work here");
    if (!exit.ok()) return failed_compilation(exit, std::move(log), options_.wall_limit, scratch.path());
    artifact.log += log;
    if (!artifact.command.empty()) artifact.command.emplace_back("&&");
    artifact.command.insert(artifact.command.end(), words.begin(), words.end());
  }

  auto code = read_from_guest(scratch.path() / device_code_file, options_.largest_code);
  if (!code) return refusal(code.error());
  auto object = read_code_object(*code);
  if (!object) return refusal(object.error());
  if (std::string wrong = plan_mismatch(*object, request.kernels); !wrong.empty())
    return CompileFailure{artifact.log + wrong};

  artifact.id = request.key;
  artifact.candidate = request.candidate.id();
  artifact.target = request.target;
  for (const KernelSignature& kernel : request.kernels) artifact.symbols.push_back(kernel.symbol);
  artifact.compiler = request.recipe.compiler;
  artifact.resources = resource_use(*object, artifact.symbols);
  AKO_TRY(artifact, cache_.store(std::move(artifact), *code));
  artifact.compile_seconds = spent.count();
  artifact.cached = false;
  return artifact;
}

std::vector<std::string> tunable_definitions(const Candidate& candidate) {
  std::vector<std::string> words;
  for (const auto& [name, value] : tunables_in_force(candidate.plan, candidate.tunables))
    words.push_back(fmt::format("-D{}={}", name, value));
  return words;
}

Result<void> check_allowed_flags(const std::vector<std::string>& flags,
                                 std::span<const std::string_view> allowed,
                                 std::span<const std::string_view> numbered) {
  auto fine = [&](std::string_view flag) {
    if (std::find(allowed.begin(), allowed.end(), flag) != allowed.end()) return true;
    return std::any_of(numbered.begin(), numbered.end(), [&](std::string_view start) {
      if (!flag.starts_with(start) || flag.size() == start.size() || flag.size() > start.size() + 4)
        return false;
      std::string_view digits = flag.substr(start.size());
      return std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
    });
  };
  constexpr std::size_t most = 64;
  if (flags.size() > most)
    return fail(ErrorKind::limit, fmt::format("{} compiler flags are too many", flags.size()));
  for (const std::string& flag : flags)
    if (!fine(flag))
      return fail(ErrorKind::invalid_input,
                  fmt::format("the compiler flag '{}' is not allowed", printable(flag).substr(0, 100)),
                  fmt::format("allowed are {}, and {}N", fmt::join(allowed, " "), fmt::join(numbered, "N ")));
  return {};
}

}  // namespace ako
