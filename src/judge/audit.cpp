// SPDX-License-Identifier: Apache-2.0
#include "judge/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace ako {
namespace {

using Names = std::span<const std::string_view>;

constexpr std::array<std::string_view, 6> kOrdinaryWords = {"fork",   "system",  "kill",
                                                            "signal", "connect", "socket"};

struct Rule {
  std::string_view name, reason;
  Names identifiers;
};

constexpr std::array<std::string_view, 8> kLoader = {
    "dlopen", "dlmopen", "dlsym", "dlvsym", "dladdr", "dl_iterate_phdr", "dlinfo", "__libc_dlopen_mode"};
constexpr std::array<std::string_view, 19> kProcesses = {
    "fork",   "vfork",   "clone3",           "execve",       "execv",  "execvp", "execl",  "execlp",
    "execle", "fexecve", "posix_spawn",      "posix_spawnp", "system", "popen",  "ptrace", "kill",
    "tgkill", "tkill",   "process_vm_writev"};
constexpr std::array<std::string_view, 8> kReachOut = {
    "socket", "connect", "sendto", "sendmsg", "recvmsg", "process_vm_readv", "shm_open", "memfd_create"};
constexpr std::array<std::string_view, 16> kClock = {"clock_gettime",
                                                     "gettimeofday",
                                                     "timespec_get",
                                                     "clock_getres",
                                                     "omp_get_wtime",
                                                     "__rdtsc",
                                                     "__rdtscp",
                                                     "_rdtsc",
                                                     "__builtin_ia32_rdtsc",
                                                     "__builtin_ia32_rdtscp",
                                                     "steady_clock",
                                                     "system_clock",
                                                     "high_resolution_clock",
                                                     "nanosleep",
                                                     "clock_nanosleep",
                                                     "usleep"};
constexpr std::array<std::string_view, 7> kKernel = {
    "syscall", "prctl", "mprotect", "pkey_mprotect", "io_uring_setup", "perf_event_open", "userfaultfd"};
constexpr std::array<std::string_view, 9> kFiles = {"fopen",    "fopen64",  "openat",  "open64", "freopen",
                                                    "ifstream", "ofstream", "fstream", "opendir"};
constexpr std::array<std::string_view, 6> kSignals = {"sigaction",    "signal",      "setitimer",
                                                      "timer_create", "sigprocmask", "ucontext_t"};

constexpr std::array<Rule, 7> kRules = {{
    {"loader", "a kernel may not look up or load other code", kLoader},
    {"processes", "a kernel may not start, stop or inspect processes", kProcesses},
    {"reach-out", "a kernel may not talk to anything outside its buffers", kReachOut},
    {"clock", "a kernel may not look at clocks or sleep: the time is taken outside", kClock},
    {"system-call", "a kernel may not make system calls or change memory protection", kKernel},
    {"files", "a kernel may not open files", kFiles},
    {"signals", "a kernel may not install signal handlers or timers", kSignals},
}};

/// Imported names whose source form is something else.
struct Import {
  std::string_view symbol, rule, reason;
};
constexpr std::array<Import, 6> kImports = {{
    {"open", "files", "a kernel may not open files"},
    {"time", "clock", "a kernel may not look at clocks or sleep: the time is taken outside"},
    {"clock", "clock", "a kernel may not look at clocks or sleep: the time is taken outside"},
    {"_ZNSt6chrono3_V212steady_clock3nowEv", "clock", "a kernel may not look at clocks"},
    {"_ZNSt6chrono3_V212system_clock3nowEv", "clock", "a kernel may not look at clocks"},
    {"process_vm_readv", "reach-out", "a kernel may not talk to anything outside its buffers"},
}};

constexpr std::array<std::string_view, 8> kAsmBad = {"syscall", "sysenter", "int $0x80",   "rdtsc",
                                                     ".incbin", ".section", ".init_array", ".pushsection"};

bool holds(Names names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

class Auditor {
 public:
  explicit Auditor(const SourceFile& file) : file_(file), tokens_(cpp_tokens(file.text)) {}

  std::optional<Rejected> run() {
    for (std::size_t i = 0; i < tokens_.size(); ++i)
      if (auto found = look(i)) return found;
    return std::nullopt;
  }

 private:
  using Kind = CppToken::Kind;

  bool is(std::size_t i, std::string_view text) const {
    return i < tokens_.size() && tokens_[i].kind != Kind::text && tokens_[i].text == text;
  }
  Rejected reject(std::size_t i, std::string_view rule, std::string reason) const {
    return {std::string(rule), std::move(reason), fmt::format("{}:{}", file_.path, tokens_[i].line)};
  }

  std::optional<Rejected> look(std::size_t i) const {
    const auto& token = tokens_[i];
    if (is(i, "#")) return directive(i);
    if (token.kind != Kind::identifier) return std::nullopt;
    if (token.text == "asm" || token.text == "__asm__" || token.text == "__asm") return assembly(i);
    if (token.text == "__attribute__" || token.text == "__attribute" || token.text == "gnu")
      return attribute(i);
    return name(i);
  }

  /// A forbidden function called, or type qualified. Members of the candidate's own types, and names that are
  /// ordinary words, are its own affair: what is called in earnest shows among the imports.
  std::optional<Rejected> name(std::size_t i) const {
    if (holds(kOrdinaryWords, tokens_[i].text)) return std::nullopt;
    for (const auto& rule : kRules) {
      if (!holds(rule.identifiers, tokens_[i].text)) continue;
      bool member = i > 0 && (is(i - 1, ".") || (i > 1 && is(i - 1, ">") && is(i - 2, "-")));
      bool used = is(i + 1, "(") || (is(i + 1, ":") && is(i + 2, ":"));
      if (used && !member) return reject(i, rule.name, fmt::format("{}: {}", tokens_[i].text, rule.reason));
    }
    return std::nullopt;
  }

  /// The tokens of a parenthesized group that starts at the first "(" after i.
  std::span<const CppToken> group(std::size_t i) const {
    std::size_t begin = i;
    while (begin < tokens_.size() && !is(begin, "(") && begin < i + 4) ++begin;
    int depth = 0;
    std::size_t end = begin;
    for (; end < tokens_.size(); ++end) {
      depth += is(end, "(");
      depth -= is(end, ")");
      if (depth == 0) break;
    }
    return std::span(tokens_).subspan(begin, end - begin);
  }

  std::optional<Rejected> assembly(std::size_t i) const {
    for (const auto& token : group(i + 1))
      for (auto bad : kAsmBad)
        if (token.kind == Kind::text && token.text.find(bad) != std::string::npos)
          return reject(i, "asm",
                        fmt::format("assembly with \"{}\": a kernel may compute, nothing else", bad));
    return std::nullopt;
  }

  std::optional<Rejected> attribute(std::size_t i) const {
    auto tokens = tokens_[i].text == "gnu"
                      ? std::span(tokens_).subspan(i, std::min<std::size_t>(8, tokens_.size() - i))
                      : group(i + 1);
    for (const auto& token : tokens) {
      bool load_time =
          token.kind == Kind::identifier &&
          (token.text == "constructor" || token.text == "destructor" || token.text == "__constructor__" ||
           token.text == "__destructor__" || token.text == "ifunc");
      bool array = token.kind == Kind::text &&
                   (token.text.starts_with(".init") || token.text.starts_with(".fini") ||
                    token.text.starts_with(".preinit") || token.text.starts_with(".ctors"));
      if (load_time || array)
        return reject(i, "load-time-code",
                      fmt::format("{}: a kernel may not run code when it is loaded or unloaded", token.text));
    }
    return std::nullopt;
  }

  std::optional<Rejected> directive(std::size_t i) const {
    if (is(i + 1, "embed")) return reject(i, "include", "#embed: a kernel may not read files");
    if (!is(i + 1, "include") && !is(i + 1, "include_next") && !is(i + 1, "import")) return std::nullopt;
    std::string path;
    if (i + 2 < tokens_.size() && tokens_[i + 2].kind == Kind::text) {
      path = tokens_[i + 2].text;
    } else if (is(i + 2, "<")) {
      for (std::size_t k = i + 3; k < tokens_.size() && !is(k, ">") && tokens_[k].line == tokens_[i].line;
           ++k)
        path += tokens_[k].text;
    }
    if (path.starts_with("/") || path.find("..") != std::string::npos)
      return reject(i, "include",
                    "#include of \"" + path + "\": only the candidate's own files and system headers");
    return std::nullopt;
  }

  const SourceFile& file_;
  std::vector<CppToken> tokens_;
};

}  // namespace

std::optional<Rejected> audit_sources(const std::vector<SourceFile>& sources) {
  for (const auto& file : sources)
    if (auto found = Auditor(file).run()) return found;
  return std::nullopt;
}

std::optional<Rejected> audit_imports(const std::vector<std::string>& imported) {
  for (const auto& symbol : imported) {
    // libstdc++'s headers wait by it (std::jthread, std::atomic::wait, std::latch); what else it could do,
    // the sandbox does not.
    if (symbol == "syscall") continue;
    for (const auto& rule : kRules)
      if (holds(rule.identifiers, symbol))
        return Rejected{std::string(rule.name), fmt::format("imports {}: {}", symbol, rule.reason), ""};
    for (const auto& import : kImports)
      if (symbol == import.symbol)
        return Rejected{std::string(import.rule), fmt::format("imports {}: {}", symbol, import.reason), ""};
  }
  return std::nullopt;
}

}  // namespace ako
