// SPDX-License-Identifier: Apache-2.0
// Shell completions, generated from the command line's own description, so that they cannot fall behind it.
#include <CLI/CLI.hpp>

#include "cli/cli.h"

namespace ako {
namespace {

struct Described {
  std::string name, help;
  std::vector<std::string> options;  // "--budget"
};

void describe(const CLI::App& app, const std::string& prefix, std::vector<Described>& out) {
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_group().empty()) continue;  // not for people
    Described described{prefix + command->get_name(), command->get_description(), {}};
    for (const CLI::Option* option : command->get_options())
      for (const std::string& name : option->get_lnames()) described.options.push_back("--" + name);
    out.push_back(described);
    describe(*command, described.name + " ", out);
  }
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

/// Names of the commands one level below `prefix` ("" or "bench ").
std::string names_below(const std::vector<Described>& all, const std::string& prefix) {
  std::vector<std::string> names;
  for (const Described& one : all)
    if (one.name.starts_with(prefix) && one.name.find(' ', prefix.size()) == std::string::npos)
      names.push_back(one.name.substr(prefix.size()));
  return joined(names);
}

std::string bash(const std::vector<Described>& all) {
  std::string cases;
  for (const Described& one : all) {
    std::string inner = names_below(all, one.name + " ");
    std::string words = joined(one.options) + (inner.empty() ? "" : " " + inner);
    cases += fmt::format("    \"{}\") words=\"{}\" ;;\n", one.name, words);
  }
  return R"sh(# ako completions for bash: eval "$(ako completions bash)"
_ako() {
  local current="${COMP_WORDS[COMP_CWORD]}" command="" words="" word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in
      -*) ;;
      *) if [ -z "$command" ]; then command="$word"; elif [ "$command" = bench ]; then command="bench $word"; fi ;;
    esac
  done
  case "$command" in
)sh" + fmt::format("    \"\") words=\"{} --help --version\" ;;\n", names_below(all, "")) +
         cases + R"sh(  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  case "$current" in
    -*) ;;
    *) if [ -n "$command" ]; then COMPREPLY+=($(compgen -f -- "$current")); fi ;;
  esac
}
complete -o filenames -F _ako ako
)sh";
}

std::string zsh(const std::vector<Described>& all) {
  // zsh runs bash's completion functions.
  return "#compdef ako\n# ako completions for zsh: eval \"$(ako completions zsh)\"\n"
         "autoload -U +X bashcompinit && bashcompinit\n" +
         bash(all);
}

std::string fish(const std::vector<Described>& all) {
  std::string out = "# ako completions for fish: ako completions fish | source\n";
  auto quoted = [](std::string text) {
    for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 2)
      text.replace(at, 1, "\\'");
    return "'" + text + "'";
  };
  for (const Described& one : all) {
    std::size_t space = one.name.find(' ');
    std::string condition = space == std::string::npos
                                ? "__fish_use_subcommand"
                                : "__fish_seen_subcommand_from " + one.name.substr(0, space);
    std::string leaf = space == std::string::npos ? one.name : one.name.substr(space + 1);
    out += fmt::format("complete -c ako -n '{}' -a {} -d {}\n", condition, leaf, quoted(one.help));
    for (const std::string& option : one.options)
      out +=
          fmt::format("complete -c ako -n '__fish_seen_subcommand_from {}' -l {}\n", leaf, option.substr(2));
  }
  return out;
}

}  // namespace

void add_completions(CLI::App& app, Context& context) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completions", "Print a completion script for a shell.");
  command->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer("Examples:\n  eval \"$(ako completions bash)\"\n  ako completions fish | source");
  command->callback([&app, shell, &context] {
    std::vector<Described> all;
    describe(app, "", all);
    std::string script = *shell == "bash" ? bash(all) : *shell == "zsh" ? zsh(all) : fish(all);
    if (context.json)
      print_json({{"shell", *shell}, {"script", script}});
    else
      fmt::print("{}", script);
  });
}

}  // namespace ako
