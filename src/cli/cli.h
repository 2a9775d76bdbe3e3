// SPDX-License-Identifier: Apache-2.0
// The command line. One file per command; one line per command in cli.cpp's table.
//
// To add a command NAME: write src/cli/NAME.cpp with
//     void add_NAME(CLI::App& app, Context& context) {
//       auto options = std::make_shared<Options>();
//       CLI::App* command = app.add_subcommand("NAME", "What it does, a sentence.");
//       command->add_option("file", options->file, "…")->required();
//       command->footer("Examples:\n  ako NAME softmax.cpp");
//       command->callback([options, &context] { context.exit_code = NAME(*options, context); });
//     }
// and add its line to the table in cli.cpp. A subcommand of `bench` goes into the table of benches, and is
// given `bench` as its app. Every command gets --json, --quiet and --color by itself; do not declare them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "problem/problem.h"

namespace CLI {
class App;
}

namespace ako {

/// What a command's exit status says; docs/commands.md has the same list.
namespace exit_code {
inline constexpr int fine = 0;
inline constexpr int no = 1;     // the answer is no: a kernel is wrong or rejected
inline constexpr int usage = 2;  // the command line is wrong
inline constexpr int input = 3;  // a file or record that was given is wrong, missing or damaged
inline constexpr int infrastructure =
    4;  // the machine, not the input: no compiler, full disk, a judge that died
inline constexpr int interrupted = 130;  // Ctrl-C; what was done is kept
int of(const Error&);
}  // namespace exit_code

/// What every command is told of its surroundings, and where it leaves its exit status.
struct Context {
  bool json = false;      // exactly one JSON document on stdout, nothing else there
  bool quiet = false;     // no progress; results and errors only
  bool color = false;     // of stdout
  bool terminal = false;  // stdout is a terminal: progress may rewrite its line
  int exit_code = exit_code::fine;
};

/// Prints an error (stderr for people; with --json also {"error": …} on stdout) and returns the exit status
/// for it.
int complain(const Context&, const Error&);
int complain(const Context&, const std::vector<Error>&);
/// One document, indented, on stdout.
void print_json(const nlohmann::json&);
/// Progress and remarks: on stderr when --json, nowhere when --quiet.
void remark(const Context&, std::string_view line);

nlohmann::json to_json(const Error&);

/// PROBLEM as people write it: a path, or the name of a shipped one ("softmax"); `shapes` as for --shape, may
/// be empty.
Parsed<Problem> problem_argument(std::string_view path_or_name, std::string_view shapes);

/// Columns padded to their widest cell, right-aligned where `right` says so; counts code points, not bytes.
std::string aligned_table(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right);

/// ANSI styles, empty text when `on` is false.
struct Style {
  explicit Style(bool colored) : on(colored) {}
  std::string bold(std::string_view) const;
  std::string dim(std::string_view) const;
  std::string green(std::string_view) const;
  std::string red(std::string_view) const;
  bool on;
};

int run_cli(int argc, char** argv);

}  // namespace ako
