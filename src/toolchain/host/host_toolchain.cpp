// SPDX-License-Identifier: Apache-2.0
#include "toolchain/host/host_toolchain.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "base/files.h"
#include "base/text.h"
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

Hash hash_folder(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code code;
  for (const auto& entry : fs::recursive_directory_iterator(folder, code))
    if (entry.is_regular_file(code)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  Hasher hasher("guest-headers/1");
  for (const fs::path& file : files)
    hasher.add(file.lexically_relative(folder).string()).add(read_file(file).value_or(""));
  return hasher.finish();
}

/// What the compile guest left at `path`, if it is a plain file of at most `limit`: the guest might have put
/// a link or a pipe there.
Result<std::string> read_from_guest(const fs::path& path, Bytes limit) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return fail(ErrorKind::not_found, "the compiler ended well but left no shared object");
  if (status.st_size > limit.count)
    return fail(ErrorKind::limit,
                fmt::format("the compiled code has {}, and at most {} are accepted",
                            to_text(Bytes{status.st_size}), to_text(limit)),
                "large constant tables belong into inputs or into code that computes them");
  std::string content(static_cast<std::size_t>(status.st_size), '\0');
  ssize_t got = ::pread(file.get(), content.data(), content.size(), 0);
  content.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return content;
}

bool disk_is_full(const fs::path& folder) {
  struct statvfs status{};
  if (::statvfs(folder.c_str(), &status) != 0) return false;
  return static_cast<std::int64_t>(status.f_bavail * status.f_frsize) < mebibytes(16).count;
}

CompileFailure refusal(const Error& error) { return {to_text(error) + "\n"}; }
CompileFailure refusal(const std::vector<Error>& errors) { return {to_text(errors) + "\n"}; }

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
  policy.readable = {"/usr", options_.guest_include};
  std::error_code code;
  for (const char* path : {"/lib", "/lib64", "/bin", "/etc/alternatives", "/etc/ld.so.cache"})
    if (fs::exists(path, code)) policy.readable.emplace_back(path);
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
  if (exit.timed_out)
    return CompileFailure{fmt::format("{}error: compiling took longer than {}\n", log,
                                      to_text(Microseconds(options_.wall_limit))),
                          true};
  if (!exit.ok()) {
    if (disk_is_full(scratch.path()) || disk_is_full("/tmp"))
      return fail(ErrorKind::io, "the compiler failed on a full disk",
                  "free some space in the temporary folder");
    if (exit.signal != 0 && log.empty())
      return fail(ErrorKind::unavailable, fmt::format("the compiler was killed by signal {}", exit.signal),
                  "the machine may be short of memory; 'ako doctor' shows what it has");
    return CompileFailure{log.empty() ? fmt::format("error: the compiler ended with status {}\n", exit.code)
                                      : log};
  }

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
