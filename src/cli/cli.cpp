// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>

#include "base/text.h"
#include "base/version.h"

namespace ako {

// ---- the table: one declaration and one line per command ----
void add_optimize(CLI::App&, Context&);
void add_resume(CLI::App&, Context&);
void add_report(CLI::App&, Context&);
void add_list(CLI::App&, Context&);
void add_show(CLI::App&, Context&);
void add_tips(CLI::App&, Context&);
void add_inspect(CLI::App&, Context&);
void add_explain(CLI::App&, Context&);
void add_doctor(CLI::App&, Context&);
void add_completions(CLI::App&, Context&);
void add_export(CLI::App&, Context&);
void add_man(CLI::App&, Context&);
void add_time(CLI::App&, Context&);
void add_check(CLI::App&, Context&);
void add_judge(CLI::App&, Context&);
void add_reference(CLI::App&, Context&);
void add_synth(CLI::App&, Context&);
void add_bench_search(CLI::App&, Context&);
void add_bench_noise(CLI::App&, Context&);

namespace {

using Add = void (*)(CLI::App&, Context&);

// clang-format off: one line per command
constexpr Add commands[] = {
    add_optimize,
    add_resume,
    add_report,
    add_list,
    add_show,
    add_tips,
    add_explain,
    add_doctor,
    add_time,
    add_check,
    add_judge,
    add_reference,
    add_synth,
    add_inspect,
    add_export,
    add_completions,
    add_man,
};

// clang-format on
constexpr std::array<Add, 2> benches = {add_bench_search, add_bench_noise};

// ---- the rest is the same for every command ----

bool terminal_has_color(bool terminal) {
  const char* no_color = std::getenv("NO_COLOR");  // https://no-color.org
  const char* term = std::getenv("TERM");
  return terminal && !(no_color && *no_color) && !(term && std::string_view(term) == "dumb");
}

std::vector<CLI::App*> subcommands(const CLI::App& app) {
  return const_cast<CLI::App&>(app).get_subcommands([](CLI::App*) { return true; });
}

void add_output_options(CLI::App& command, Context& context) {
  for (CLI::App* inner : subcommands(command)) add_output_options(*inner, context);
  if (!subcommands(command).empty()) return;
  command.add_flag("--json", context.json, "Print one JSON document on stdout")->group("Output");
  command.add_flag("-q,--quiet", context.quiet, "No progress: results and errors only")->group("Output");
  auto choose = [&context](const std::string& when) {
    if (when != "auto") context.color = when == "always";
  };
  command.add_option_function<std::string>("--color", choose, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->group("Output");
}

/// "ako optimise": no command's name. What was probably meant, or all there is.
std::optional<Error> unknown_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return std::nullopt;
  std::vector<std::string> names;
  for (const CLI::App* command : subcommands(app)) {
    if (command->get_name() == argv[1]) return std::nullopt;
    if (!command->get_group().empty()) names.push_back(command->get_name());
  }
  const std::string_view near = closest(argv[1], names);
  return Error{ErrorKind::invalid_input, fmt::format("there is no command '{}'", printable(argv[1])),
               near.empty() ? fmt::format("commands: {}", fmt::join(names, ", "))
                            : fmt::format("did you mean 'ako {}'?", near)};
}

/// CLI11 prints the bounds of a double where a positive number was wanted.
std::string readable(std::string what) {
  const std::size_t range = what.find(" not in range ");
  if (range != std::string::npos && what.size() > range + 100)
    what = what.substr(0, range) + " is not positive";
  return printable(what);
}

int parse_failed(const CLI::App& app, const CLI::ParseError& error, const Context& context, int argc,
                 char** argv) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
  const auto parsed = app.get_subcommands();
  const Error usage{ErrorKind::invalid_input, readable(error.what()),
                    fmt::format("'ako {}{}--help' has the options and examples",
                                parsed.empty() ? "" : parsed.front()->get_name(), parsed.empty() ? "" : " ")};
  Context said = context;  // CLI11 stops at the first mistake, maybe before --json
  said.json =
      std::any_of(argv, argv + argc, [](const char* word) { return std::string_view(word) == "--json"; });
  complain(said, unknown_command(app, argc, argv).value_or(usage));
  return exit_code::usage;
}

}  // namespace

int run_cli(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  Context context;
  context.terminal = ::isatty(STDOUT_FILENO) == 1;
  context.color = terminal_has_color(context.terminal);

  CLI::App app{
      "An agentic kernel optimizer: an agent proposes, a judge it cannot fool decides, a campaign records "
      "every step."};
  app.name("ako");
  app.set_version_flag("--version", fmt::format("ako {}", version));
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  app.footer(
      "Start here:\n  ako doctor                           what works on this machine\n"
      "  ako explain softmax                  what a problem costs, and its roofline here\n"
      "  ako optimize softmax --budget 60s    write, check and time kernels; leave a report");
  for (Add add : commands) add(app, context);
  if constexpr (!benches.empty()) {
    CLI::App* bench = app.add_subcommand("bench", "Measure this machine's noise, or ako's own search.");
    bench->require_subcommand(1);
    for (Add add : benches) add(*bench, context);
  }
  add_output_options(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return parse_failed(app, error, context, argc, argv);
  }
  return context.exit_code;
}

}  // namespace ako
