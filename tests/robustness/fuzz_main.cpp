// SPDX-License-Identifier: Apache-2.0
// fuzz_inputs SECONDS [SEED [TARGET]]: everything that ako reads from outside, on inputs that are nearly
// right. What is accepted is used a little: written and read again, its costs counted. A crash, an exception,
// an input that takes more than ten seconds, or one that is read back differently ends the run with status 1;
// the input is left in fuzz-TARGET.input.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>

#include "agent/agent.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/text.h"
#include "campaign/campaign.h"
#include "judge/audit.h"
#include "judge/request_json.h"
#include "judge/server.h"
#include "judge/verdict.h"
#include "kernel/candidate.h"
#include "mutate.h"
#include "problem/cost.h"
#include "problem/problem.h"
#include "toolchain/host/elf_symbols.h"

namespace ako::fuzzing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// What a signal handler may look at.
std::string current_input;
char current_file[64] = "fuzz.input";

[[noreturn]] void give_up(const char* why) {
  int file = ::open(current_file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  bool kept = file >= 0 && ::write(file, current_input.data(), current_input.size()) >= 0;
  for (const char* part : {why, kept ? ", input left in " : "", kept ? current_file : "", "\n"})
    if (::write(STDERR_FILENO, part, std::strlen(part)) < 0) break;
  ::_exit(1);
}

void require(bool holds, const char* what) {
  if (!holds) give_up(what);
}

std::string sample(const fs::path& path) {
  auto text = read_file(path);
  if (!text) fmt::print(stderr, "{}\n", to_text(text.error())), ::_exit(2);
  return *text;
}

const Problem& softmax() {
  static const Problem problem = *load_problem(fs::path(AKO_SOURCE_DIR) / "problems" / "softmax.yaml");
  return problem;
}

Candidate some_candidate() {
  Candidate candidate;
  candidate.sources = {{"softmax.cpp", "extern \"C\" void softmax() {}\n"},
                       {"a/b.h", "#define A \"\\\n\"\n"}};
  candidate.plan = default_plan(softmax());
  candidate.tunables = {{"BLOCK", 128}};
  return candidate;
}

Verdict some_verdict() {
  Verdict verdict;
  verdict.target = "host";
  verdict.outcome = Wrong{};
  verdict.timings.resize(1);
  verdict.timings[0].shape = "T=8,D=64";
  verdict.timings[0].candidate_us = {1.5, 2.5};
  verdict.against_incumbent = Comparison{};
  verdict.notes = {"a note"};
  return verdict;
}

JudgeRequest some_request() {
  JudgeRequest request;
  request.problem_text = "problem: p";
  request.shapes = "T=1";
  request.candidate = some_candidate();
  request.incumbent = some_candidate();
  return request;
}

json json_of(const std::string& text) {
  return json::parse(text, nullptr, false);  // damaged text is `discarded`, which readers get to see as well
}

/// Read, written and read again: the same.
template <class Read>
void read_json(const std::string& text, Read read) {
  auto first = read(json_of(text));
  if (!first) return;
  std::string written = to_json(*first).dump(-1, ' ', false, json::error_handler_t::replace);
  auto second = read(json_of(written));
  require(second.has_value(), "what was written cannot be read");
  require(to_json(*second).dump(-1, ' ', false, json::error_handler_t::replace) == written,
          "what was written is read differently");
}

void use(const Problem& problem) {
  (void)pattern_of(problem);
  for (const Shape& shape : problem.shapes) (void)cost_of(problem, shape);
  auto plan = default_plan(problem);
  (void)check_plan(plan, problem, {});
}

struct EchoJudge : JudgeService {
  TargetFacts known;
  Result<Verdict> judge(const JudgeRequest&, const JudgeClient::Progress& progress,
                        std::stop_token) override {
    progress("compile");
    return some_verdict();
  }
  const TargetFacts& facts() const override { return known; }
  Trust trust() const override { return Trust::isolated; }
};

void converse(const std::string& text) {
  EchoJudge judge;
  std::istringstream in(text);
  std::ostringstream out;
  serve(judge, in, out);
  std::istringstream replies(out.str());
  for (std::string line; std::getline(replies, line);)
    require(!json_of(line).is_discarded(), "the server said what is no JSON");
}

struct Target {
  std::string name;
  std::vector<std::string> samples;
  std::function<void(const std::string&)> read;
};

std::vector<std::string> problem_samples() {
  std::vector<std::string> all;
  for (const auto& entry : fs::directory_iterator(fs::path(AKO_SOURCE_DIR) / "problems"))
    if (entry.path().extension() == ".yaml") all.push_back(sample(entry.path()));
  std::ranges::sort(all);
  return all;
}

const std::string plan_text =
    "tunables: {BLOCK: [128, 256, 512]}\nworkspace: {partial: {type: f32, shape: [T, 8]}}\nlaunches:\n"
    "  - {kernel: rows, grid: [T, (D + BLOCK - 1) / BLOCK, 1], block: [BLOCK, 1, 1], shared: 0, args: [x, y, "
    "T, D]}\n"
    "  - {kernel: more, args: [partial, y, min(T, D), max(T, 1)]}\n";

std::vector<Target> all_targets() {
  std::string request = to_json(some_request()).dump();
  std::vector<Target> targets;
  targets.push_back({"problem", problem_samples(), [](const std::string& text) {
                       if (auto problem = parse_problem(text, "fuzz.yaml")) use(*problem);
                     }});
  targets.push_back({"shapes", {"T=128,D=64; T=1,D=64", "T=4096,D=4096"}, [](const std::string& text) {
                       if (auto problem = with_shapes(softmax(), text)) use(*problem);
                     }});
  targets.push_back({"plan", {plan_text, to_yaml(default_plan(softmax()))}, [](const std::string& text) {
                       auto plan = parse_launch_plan(text, "fuzz.plan.yaml");
                       if (plan && check_plan(*plan, softmax(), {}))
                         for (const auto& shape : softmax().shapes)
                           (void)bind_arguments(*plan, softmax(), shape, {});
                     }});
  targets.push_back({"candidate", {to_json(some_candidate()).dump()}, [](const std::string& text) {
                       read_json(text, [](const json& from) { return candidate_from_json(from); });
                     }});
  targets.push_back({"verdict", {to_json(some_verdict()).dump()}, [](const std::string& text) {
                       read_json(text, [](const json& from) { return verdict_from_json(from); });
                     }});
  RoundRecord round;
  round.verdict = some_verdict();
  targets.push_back({"round", {to_json(round).dump()}, [](const std::string& text) {
                       read_json(text, [](const json& from) { return round_from_json(from); });
                     }});
  targets.push_back({"request", {request}, [](const std::string& text) {
                       read_json(text, [](const json& from) { return judge_request_from_json(from); });
                     }});
  targets.push_back(
      {"protocol",
       {"{\"id\":1,\"method\":\"ping\"}\n{\"id\":2,\"method\":\"judge\",\"params\":" + request + "}\n",
        "{\"id\":\"a\",\"method\":\"facts\",\"protocol\":1}\n{\"id\":3,\"method\":\"cancel\",\"params\":{"
        "\"id\":1}}\n"
        "{\"id\":4,\"method\":\"shutdown\"}\n"},
       converse});
  Manifest manifest;
  manifest.problem = "problems/softmax.yaml";
  manifest.unknown["theirs"] = "[1, 2]";
  targets.push_back({"manifest", {to_yaml(manifest)}, [](const std::string& text) {
                       auto first = parse_manifest(text, "manifest.yaml");
                       if (!first) return;
                       auto second = parse_manifest(to_yaml(*first), "manifest.yaml");
                       require(second.has_value(), "a manifest that was written cannot be read");
                       // An empty text is written as null, which is a default when read: after that nothing
                       // changes.
                       auto third = parse_manifest(to_yaml(*second), "manifest.yaml");
                       require(third && to_yaml(*third) == to_yaml(*second),
                               "a manifest is read differently");
                     }});
  targets.push_back({"audit",
                     {sample(fs::path(AKO_SOURCE_DIR) / "guest" / "host_main.cpp").substr(0, 6000)},
                     [](const std::string& text) { (void)audit_sources({{"a.cpp", text}}); }});
  targets.push_back({"elf",
                     {sample(fs::path(AKO_BINARY_DIR) / "bin" / "ako-guest-host")},
                     [](const std::string& text) { (void)elf_symbols(text); }});
  targets.push_back(
      {"text", {"plain \x1b[31m\xe2\x80\xae text | *", "\xff\xc3\xa9`<b>"}, [](const std::string& text) {
         std::string once = printable(text);
         require(printable(once) == once, "printable text is not");
         require(once.find('\x1b') == std::string::npos, "an escape sequence came through");
         (void)markdown_cell(text);
       }});
  return targets;
}

int run(double seconds, std::uint64_t seed, std::string_view only) {
  std::vector<Target> targets = all_targets();
  std::erase_if(targets, [&](const Target& one) { return !only.empty() && one.name != only; });
  for (const Target& target : targets) {
    fmt::format_to_n(current_file, sizeof current_file - 1, "fuzz-{}.input", target.name).out[0] = '\0';
    Mutator mutator(target.samples, seed);
    Stopwatch watch;
    int count = 0;
    for (; watch.elapsed().count() < seconds / static_cast<double>(targets.size()); ++count) {
      current_input = mutator.next();
      ::alarm(10);
      try {
        target.read(current_input);
      } catch (const std::exception& error) {
        give_up(error.what());
      }
    }
    ::alarm(0);
    fmt::print("{}: {} inputs\n", target.name, count);
  }
  return 0;
}

}  // namespace
}  // namespace ako::fuzzing

int main(int count, char** arguments) {
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    ::signal(signal, [](int) { ako::fuzzing::give_up("crashed"); });
  ::signal(SIGALRM, [](int) { ako::fuzzing::give_up("took more than ten seconds"); });
  double seconds = count > 1 ? std::atof(arguments[1]) : 10;
  return ako::fuzzing::run(seconds, count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 1,
                           count > 3 ? arguments[3] : "");
}
