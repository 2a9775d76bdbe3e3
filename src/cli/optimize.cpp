// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "agent/agent.h"
#include "base/files.h"
#include "base/text.h"
#include "campaign/campaign.h"
#include "campaign/metrics.h"
#include "cli/campaign_run.h"
#include "cli/cli.h"
#include "cli/duration.h"
#include "judge/device_kernels.h"
#include "judge/device_server.h"
#include "target/gpu/facts.h"
#include "target/host/host.h"
#include "toolchain/toolchain.h"

namespace ako {
namespace {

namespace fs = std::filesystem;

struct OptimizeOptions {
  std::string input, budget, agent, shapes, target, performance_target, baseline;
  std::string workspace = "agent/workspace";
  int rounds = 0;
  double efficiency = 0;
  std::optional<std::uint64_t> seed;
  bool yes = false;
};

/// A manifest says what a problem file cannot: it has one of these keys at the top level.
bool is_manifest(const std::string& text) {
  for (std::string_view key : {"target_op:", "target_gpu:", "target_backend:"})
    if (text.starts_with(key) || text.find("\n" + std::string(key)) != std::string::npos) return true;
  return false;
}

struct Plan {
  Manifest manifest;
  Problem problem;
  std::optional<Candidate> baseline;
};

/// The kernel to start from: --baseline, or the manifest's kernel_source, relative to the manifest.
Parsed<void> read_baseline(const OptimizeOptions& options, Plan& plan) {
  fs::path file = options.baseline;
  if (file.empty() && !plan.manifest.kernel_source.empty())
    file = fs::path(options.input).parent_path() / plan.manifest.kernel_source;
  if (file.empty()) return {};
  auto candidate = load_candidate(file, plan.problem);
  if (!candidate) return std::unexpected(candidate.error());
  plan.baseline = std::move(*candidate);
  plan.manifest.kernel_source = file.string();
  return {};
}

Parsed<Plan> plan_from(const OptimizeOptions& options) {
  Plan plan;
  std::string named = options.input;
  std::error_code ignored;
  if (fs::is_regular_file(options.input, ignored)) {
    auto text = read_file(options.input);
    if (!text) return std::unexpected(std::vector<Error>{text.error()});
    if (is_manifest(*text)) {
      auto manifest = parse_manifest(*text, options.input);
      if (!manifest) return std::unexpected(manifest.error());
      plan.manifest = *manifest;
      named = manifest->problem.empty() ? manifest->target_op : manifest->problem;
      // A relative path in a manifest is relative to the manifest.
      if (fs::path beside = fs::path(options.input).parent_path() / named; fs::exists(beside, ignored))
        named = beside.string();
    }
  }
  std::string shapes = options.shapes;
  if (shapes.empty() && plan.manifest.target_shapes.find('=') != std::string::npos)
    shapes = plan.manifest.target_shapes;
  auto problem = problem_argument(named, shapes);
  if (!problem) return std::unexpected(problem.error());
  plan.problem = std::move(*problem);
  plan.manifest.problem = named;
  if (plan.manifest.target_op.empty()) plan.manifest.target_op = plan.problem.name;
  if (!shapes.empty()) plan.manifest.target_shapes = shapes;
  if (auto read = read_baseline(options, plan); !read) return std::unexpected(read.error());
  return plan;
}

Result<void> apply(const OptimizeOptions& options, Manifest& manifest) {
  if (!options.budget.empty()) {
    AKO_TRY(Seconds budget, parse_duration(options.budget));
    manifest.budget_seconds = budget.count();
  }
  if (options.rounds > 0) manifest.max_iterations = options.rounds;
  if (options.efficiency > 0) manifest.target_efficiency = options.efficiency;
  if (!options.performance_target.empty()) manifest.performance_target = options.performance_target;
  if (!options.agent.empty()) manifest.agent = options.agent;
  if (!options.target.empty()) manifest.target_gpu = options.target;
  if (options.seed) manifest.seed = *options.seed;
  AKO_CHECK(make_agent(manifest.agent, {manifest.seed}));
  if (!manifest.performance_target.empty()) AKO_CHECK(parse_performance_target(manifest.performance_target));
  bool endless = manifest.budget_seconds == 0 && manifest.max_iterations == 0 &&
                 manifest.target_efficiency == 0 && manifest.performance_target.empty();
  if (endless) manifest.budget_seconds = 300;
  if (manifest.execution_mode != "workspace")
    return fail(ErrorKind::unsupported, "this build of ako runs execution_mode workspace only",
                "give the problem's mathematics instead of a repository's commands");
  if (manifest.target_gpu != "host" && !is_device_target(manifest.target_gpu))
    return fail(ErrorKind::unsupported,
                fmt::format("this build of ako cannot run target '{}'", printable(manifest.target_gpu)),
                "it runs: host, and GPUs by their architecture: sm_90, gfx942, gfx950");
  return {};
}

/// The given kernel's language; else C++, which nobody can mean for a GPU, gives way to the GPU's own.
void choose_language(Plan& plan) {
  Manifest& manifest = plan.manifest;
  std::string own = is_device_target(manifest.target_gpu)
                        ? std::string(name_of(device_language(manifest.target_gpu)))
                        : "CPP";
  if (plan.baseline) own = name_of(plan.baseline->language);
  if (manifest.target_backend == "CPP") manifest.target_backend = own;
  if (manifest.target_lang == "CPP") manifest.target_lang = own;
}

std::string parameters(const Plan& plan) {
  const Manifest& m = plan.manifest;
  std::vector<std::vector<std::string>> rows{
      {"  problem", printable(plan.problem.name + ": " + plan.problem.summary)}};
  rows.push_back({"  shapes", fmt::format("{}", plan.problem.shapes.size())});
  if (plan.baseline) rows.push_back({"  baseline", printable(m.kernel_source)});
  rows.push_back({"  target", m.target_gpu});
  rows.push_back({"  language", m.target_lang});
  rows.push_back({"  agent", fmt::format("{}, seed {}", printable(m.agent), m.seed)});
  rows.push_back({"  budget", m.budget_seconds > 0 ? duration_text(m.budget_seconds) : "no limit of time"});
  if (m.max_iterations > 0) rows.push_back({"  rounds", fmt::format("at most {}", m.max_iterations)});
  if (m.target_efficiency > 0)
    rows.push_back({"  until", fmt::format("{:.0f} % of the roofline", 100 * m.target_efficiency)});
  if (!m.performance_target.empty()) rows.push_back({"  until", printable(m.performance_target)});
  return aligned_table(rows, {});
}

bool confirmed(const OptimizeOptions& options, const Context& context) {
  if (options.yes || context.json || !context.terminal || ::isatty(STDIN_FILENO) != 1) return true;
  fmt::print("Start? [Y/n] ");
  std::fflush(stdout);
  std::string answer;
  if (!std::getline(std::cin, answer)) return false;
  return answer.empty() || answer[0] == 'y' || answer[0] == 'Y';
}

/// A roofline needs measured bandwidth and peaks; they are measured once per machine and kept.
Result<void> ensure_facts(const Context& context) {
  if (host::look_up().fact("copy_bandwidth_bytes_per_s")) return {};
  remark(context,
         "This machine was never measured: measuring its memory bandwidth and peak arithmetic (a few "
         "seconds, once).");
  AKO_TRY(TargetFacts facts, host::measure());
  remark(context, fmt::format("  copies {:.1f} GB/s, {:.1f} GFLOP/s in f32",
                              facts.fact("copy_bandwidth_bytes_per_s").value_or(0) * 1e-9,
                              facts.fact("peak_flops_f32").value_or(0) * 1e-9));
  return {};
}

/// A device, and something that compiles for it, before there is a campaign that could not go on without
/// them.
Result<void> ensure_device(const Manifest& manifest) {
  const TargetId& target = manifest.target_gpu;
  auto found = gpu::find_devices();
  if (gpu::devices_of(found, target).empty()) return std::unexpected(gpu::no_device(found, target));
  auto language = language_from(manifest.target_lang).value_or(device_language(target));
  AKO_CHECK(choose_toolchain(find_toolchains(target), language, target));
  return {};
}

Result<void> ensure_target(const Manifest& manifest, const Context& context) {
  return is_device_target(manifest.target_gpu) ? ensure_device(manifest) : ensure_facts(context);
}

int optimize(const OptimizeOptions& options, const Context& context) {
  auto plan = plan_from(options);
  if (!plan) return complain(context, plan.error());
  // Nothing can be derived from a Python function: what can be searched is the given kernel's own tunables.
  if (options.agent.empty() && plan->problem.statements.empty()) plan->manifest.agent = "tune";
  if (auto applied = apply(options, plan->manifest); !applied) return complain(context, applied.error());
  choose_language(*plan);
  remark(context, parameters(*plan));
  if (!confirmed(options, context)) return exit_code::interrupted;
  if (auto ready = ensure_target(plan->manifest, context); !ready) return complain(context, ready.error());
  auto folder = create_campaign(plan->manifest, plan->problem, options.workspace, plan->baseline);
  if (!folder) return complain(context, folder.error());
  remark(context, fmt::format("campaign {}\n", folder->string()));
  return run_and_report(*folder, context);
}

}  // namespace

void add_optimize(CLI::App& app, Context& context) {
  auto options = std::make_shared<OptimizeOptions>();
  CLI::App* command = app.add_subcommand(
      "optimize", "Write, check and time kernels for a problem; leave the best and a report.");
  command
      ->add_option("problem", options->input, "A problem file, the name of a shipped problem, or a manifest")
      ->required();
  command->add_option("--budget", options->budget,
                      "Time in all: 60s, 10m, 1.5h (300s when no limit is given)");
  command->add_option("--rounds", options->rounds, "At most so many rounds")->check(CLI::PositiveNumber);
  command->add_option("--target-efficiency", options->efficiency, "End at this fraction of the roofline")
      ->check(CLI::Range(0.0, 1.0));
  command->add_option("--performance-target", options->performance_target,
                      "End at '>500 TFLOPS', '>800 GB/s' or '>60% peak'");
  command->add_option(
      "--baseline", options->baseline,
      "The kernel to start from: a source file or candidate folder (default: the agent's own)");
  command->add_option("--agent", options->agent,
                      "Who proposes: search, tune (search; tune for a problem without math)");
  command->add_option("--seed", options->seed, "Of the agent's choices (1)");
  command->add_option("--shape", options->shapes, "Instead of the problem's shapes: 'T=128,D=64; T=1,D=64'");
  command->add_option("--target", options->target,
                      "Device: host, or a GPU by its architecture (sm_90, gfx942)");
  command->add_option("--workspace", options->workspace,
                      "Where the campaign's folder is made (agent/workspace)");
  command->add_flag("-y,--yes", options->yes, "Start without asking");
  command->footer(
      "Examples:\n  ako optimize softmax --budget 60s\n  ako optimize my_op.yaml --rounds 20 "
      "--target-efficiency 0.9\n"
      "  ako optimize matmul --shape 'M=512,N=512,K=512' --yes --json\n  ako optimize manifest.yaml\n"
      "  ako optimize rmsnorm --target sm_90 --budget 60s\n\n"
      "Ctrl-C stops at once and keeps all closed rounds; 'ako resume FOLDER' goes on.");
  command->callback([options, &context] { context.exit_code = optimize(*options, context); });
}

}  // namespace ako
