// SPDX-License-Identifier: Apache-2.0
#include "toolchain/host/host_toolchain.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "base/files.h"
#include "base/text.h"
#include "toolchain/compile_guest.h"
#include "toolchain/host/definitions.h"
#include "toolchain/host/elf_symbols.h"
#include "toolchain/host/flags.h"
#include "toolchain/host/messages.h"
#include "toolchain/host/wrapper.h"

namespace ako {
namespace fs = std::filesystem;
namespace {

// Beside the sources, under a name that check_source_path refuses to a candidate.
constexpr const char* wrapper_file = "-ako/wrapper.c";
constexpr const char* code_file = "-ako/code.so";

/// The sources that are compiled; the others are there to be included.
bool is_unit(const SourceFile& source) { return language_of_file(source.path) == Language::cpp; }

}  // namespace

struct HostToolchain::Request {
  const Candidate& candidate;
  const std::vector<KernelSignature>& kernels;
  const std::string& wrapper;
  Hash key;
};

HostToolchain::HostToolchain(Compiler compiler, HostToolchainOptions options)
    : compiler_(std::move(compiler)),
      options_(std::move(options)),
      headers_(hash_folder(options_.guest_include)),
      cache_(options_.cache) {}

Result<std::unique_ptr<Toolchain>> HostToolchain::find() {
  AKO_TRY(Compiler compiler, find_compiler());
  AKO_TRY(fs::path header, find_resource("guest/include/ako/kernel.h"));
  HostToolchainOptions options;
  options.guest_include = header.parent_path().parent_path();
  options.cache = cache_folder() / "compile";
  return std::make_unique<HostToolchain>(std::move(compiler), std::move(options));
}

std::string HostToolchain::identity() const {
  return fmt::format("{} [{}]", compiler_.version, compiler_.identity.short_hex());
}

bool HostToolchain::builds(Language language, const TargetId& target) const {
  return language == Language::cpp && target == "host";
}

std::vector<std::string> HostToolchain::command(const Candidate& candidate) const {
  std::vector<std::string> command{compiler_.path.string()};
  for (std::string& flag : base_flags(compiler_.is_clang)) command.push_back(std::move(flag));
  command.insert(command.end(), candidate.flags.begin(), candidate.flags.end());
  for (const auto& [name, value] : tunables_in_force(candidate.plan, candidate.tunables))
    command.push_back(fmt::format("-D{}={}", name, value));
  command.insert(command.end(), {"-isystem", options_.guest_include.string(), "-x", "c++"});
  for (const SourceFile& source : candidate.sources)
    if (is_unit(source)) command.push_back(source.path);
  // The wrapper as C: its compiler starts faster, and one command for both is faster than two. clang++ would
  // refuse -std=c++… for C.
  if (!compiler_.is_clang) command.insert(command.end(), {"-x", "c"});
  command.insert(command.end(), {fmt::format("./{}", wrapper_file), "-o", fmt::format("./{}", code_file)});
  return command;
}

Hash HostToolchain::key(const Candidate& candidate, const std::string& wrapper,
                        const TargetFacts& facts) const {
  Hasher hasher("host-code/1");
  hasher.add(candidate.id()).add(wrapper).add(compiler_.identity).add(headers_);
  for (const std::string& word : command(candidate)) hasher.add(word);
  // -march=native: what the compiler makes of the machine.
  hasher.add(facts.device).add(static_cast<std::int64_t>(facts.vector_bits));
  for (const std::string& feature : facts.features) hasher.add(feature);
  return hasher.finish();
}

Policy HostToolchain::policy(const fs::path& scratch) const {
  Policy policy;
  policy.filter = Filter::compile;
  policy.readable = system_folders();
  policy.readable.push_back(options_.guest_include);
  std::error_code code;
  // A compiler outside of /usr brings its own folders: PREFIX/bin/g++ needs PREFIX/lib and PREFIX/libexec.
  fs::path prefix = fs::weakly_canonical(compiler_.path, code).parent_path().parent_path();
  if (!prefix.string().starts_with("/usr") && prefix != "/") policy.readable.push_back(prefix);
  policy.scratch = scratch;
  policy.memory = options_.memory;
  policy.cpu_limit = 2 * options_.wall_limit;
  policy.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"LC_ALL", "C"}, {"TMPDIR", "/tmp"}};
  if (!confinement().namespaces) policy.environment["TMPDIR"] = scratch.string();
  return policy;
}

Result<BuildResult> HostToolchain::build(const Candidate& candidate, const Problem& problem,
                                         const TargetFacts& facts) {
  if (!builds(candidate.language, facts.id))
    return fail(ErrorKind::unsupported, fmt::format("the host toolchain does not build {} for {}",
                                                    name_of(candidate.language), facts.id));
  if (auto fine = check_sources(candidate); !fine) return refusal(fine.error());
  if (auto fine = check_plan(candidate.plan, problem, candidate.tunables); !fine)
    return refusal(fine.error());
  if (auto fine = check_flags(candidate.flags); !fine) return refusal(fine.error());
  auto kernels = signatures(candidate.plan, problem);
  if (!kernels) return refusal(kernels.error());
  if (std::none_of(candidate.sources.begin(), candidate.sources.end(), is_unit))
    return CompileFailure{"error: no source is C++: one must end in .cpp, .cc, .cxx or .c\n"};
  for (const KernelSignature& kernel : *kernels)
    if (auto found = find_definition(candidate.sources, kernel.symbol))
      if (auto mismatch = signature_mismatch(kernel, *found)) return CompileFailure{*mismatch};
  std::string wrapper = wrapper_source(*kernels);
  Request request{candidate, *kernels, wrapper, key(candidate, wrapper, facts)};
  if (auto stored = cache_.find(request.key)) return *stored;
  return compile(request);
}

Result<BuildResult> HostToolchain::compile(const Request& request) {
  AKO_TRY(TemporaryFolder scratch, TemporaryFolder::create("ako-compile"));
  for (const SourceFile& source : request.candidate.sources)
    AKO_CHECK(write_file(scratch.path() / source.path, source.text));
  AKO_CHECK(write_file(scratch.path() / wrapper_file, request.wrapper));
  Command command;
  command.argv = this->command(request.candidate);
  command.folder = scratch.path();
  command.wall_limit = options_.wall_limit;
  command.output_limit = mebibytes(1);
  AKO_TRY(Exit exit, options_.run(command, policy(scratch.path())));

  MessageContext context{{scratch.path().string() + "/", options_.guest_include.string() + "/"},
                         request.kernels};
  std::string log = readable_messages(exit.errors, context);
  if (!exit.ok()) return failed_compilation(exit, std::move(log), options_.wall_limit, scratch.path());

  auto code = read_from_guest(scratch.path() / code_file, options_.largest_code);
  if (!code) return refusal(code.error());
  auto symbols = elf_symbols(*code);
  if (!symbols) return refusal(symbols.error());
  // A symbol that no source defines may still be found in the C library ("system"): that is no kernel.
  for (const KernelSignature& kernel : request.kernels)
    if (!symbols->defined.contains(kernel.symbol) || !symbols->exported.contains("ako_call_" + kernel.symbol))
      return CompileFailure{log + missing_kernel(kernel) + "\n"};

  Artifact artifact;
  artifact.id = request.key;
  artifact.candidate = request.candidate.id();
  artifact.target = "host";
  for (const KernelSignature& kernel : request.kernels) artifact.symbols.push_back(kernel.symbol);
  artifact.compiler = compiler_.version;
  artifact.command = command.argv;
  artifact.log = log;
  artifact.resources.values = {{"code_bytes", symbols->code_bytes}};
  AKO_TRY(artifact, cache_.store(std::move(artifact), *code));
  artifact.compile_seconds = exit.wall.count();
  artifact.cached = false;
  return artifact;
}

}  // namespace ako
