// SPDX-License-Identifier: Apache-2.0
// The man page, generated from the command line's own description, so that it cannot fall behind it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/version.h"
#include "cli/cli.h"

namespace ako {
namespace {

/// roff: backslashes and hyphens escaped, no line that begins like a request.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

std::string option_entry(const CLI::Option& option) {
  std::string names;
  for (const std::string& name : option.get_snames()) names += (names.empty() ? "-" : ", -") + name;
  for (const std::string& name : option.get_lnames()) names += (names.empty() ? "--" : ", --") + name;
  if (names.empty()) names = option.get_name(true);
  return ".TP\n.B " + roff(names) + "\n" + roff(option.get_description()) + "\n";
}

std::string command_entry(const CLI::App& command, const std::string& name) {
  std::string out = ".SS " + roff(name) + "\n" + roff(command.get_description()) + "\n";
  const auto inner = command.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::Option* option : command.get_options())
    if (inner.empty() && option->get_name() != "--help") out += option_entry(*option);
  if (!command.get_footer().empty()) out += ".PP\n.nf\n" + roff(command.get_footer()) + "\n.fi\n";
  for (const CLI::App* one : inner) out += command_entry(*one, name + " " + one->get_name());
  return out;
}

std::string page(const CLI::App& app) {
  std::string out = fmt::format(
      ".TH AKO 1 \"\" \"ako {}\" \"User Commands\"\n.SH NAME\nako \\- optimize compute kernels\n"
      ".SH SYNOPSIS\n.B ako\n.I command\n[options]\n.SH DESCRIPTION\n{}\n.SH COMMANDS\n",
      roff(version), roff(app.get_description()));
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!command->get_group().empty()) out += command_entry(*command, "ako " + command->get_name());
  return out +
         ".SH EXIT STATUS\n"
         ".TP\n.B 0\nfine\n.TP\n.B 1\nthe answer is no: a kernel is wrong or rejected\n"
         ".TP\n.B 2\nthe command line is wrong\n.TP\n.B 3\na file or record is wrong, missing or damaged\n"
         ".TP\n.B 4\nthe machine, not the input\n.TP\n.B 130\ninterrupted; what was done is kept\n"
         ".SH ENVIRONMENT\n.TP\n.B AKO_CXX\nthe compiler of host kernels\n"
         ".TP\n.B AKO_CACHE_DIR, AKO_DATA_DIR\nwhere ako keeps compiled kernels, and what campaigns taught\n"
         ".TP\n.B NO_COLOR\nno colors\n";
}

}  // namespace

void add_man(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("man", "Print the manual page, in roff.");
  command->footer("Examples:\n  ako man | man -l -\n  ako man > /usr/local/share/man/man1/ako.1");
  command->callback([&app, &context] {
    if (context.json)
      print_json({{"page", page(app)}});
    else
      fmt::print("{}", page(app));
  });
}

}  // namespace ako
