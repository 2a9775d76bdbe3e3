// SPDX-License-Identifier: Apache-2.0
// What all commands print alike: errors, JSON, tables.
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/cli.h"

namespace ako {

int exit_code::of(const Error& error) {
  switch (error.kind) {
    case ErrorKind::invalid_input:
    case ErrorKind::not_found:
    case ErrorKind::conflict:
    case ErrorKind::corrupt:
      return input;
    case ErrorKind::unsupported:
    case ErrorKind::io:
    case ErrorKind::limit:
    case ErrorKind::unavailable:
    case ErrorKind::internal:
      return infrastructure;
  }
  return infrastructure;
}

nlohmann::json to_json(const Error& error) {
  nlohmann::json json{{"kind", to_text(error.kind)}, {"what", printable(error.what, true)}};
  if (!error.advice.empty()) json["advice"] = printable(error.advice, true);
  if (error.place)
    json["place"] = {
        {"file", printable(error.place->file)}, {"line", error.place->line}, {"column", error.place->column}};
  return json;
}

int complain(const Context& context, const std::vector<Error>& errors) {
  std::string text = printable(to_text(errors), true);
  fmt::print(stderr, "{}\n", text);
  if (context.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const Error& error : errors) list.push_back(to_json(error));
    print_json({{"error", list.at(0)}, {"errors", list}});
  }
  return exit_code::of(errors.front());
}

int complain(const Context& context, const Error& error) {
  return complain(context, std::vector<Error>{error});
}

void print_json(const nlohmann::json& json) {
  // Text from outside may hold bytes that are not UTF-8: replaced, for a JSON document must be.
  std::string text = json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
  fmt::print(stdout, "{}\n", text);
  std::fflush(stdout);
}

void remark(const Context& context, std::string_view line) {
  if (context.quiet) return;
  std::FILE* stream = context.json ? stderr : stdout;
  fmt::print(stream, "{}\n", printable(line, true));
  std::fflush(stream);
}

namespace {

std::size_t code_points(std::string_view text) {
  std::size_t count = 0;
  for (char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

}  // namespace

std::string aligned_table(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i == widths.size()) widths.push_back(0);
      widths[i] = std::max(widths[i], code_points(row[i]));
    }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::string padding(widths[i] - code_points(row[i]), ' ');
      bool to_right = i < right.size() && right[i];
      line += (i ? "  " : "") + (to_right ? padding + row[i] : row[i] + padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

namespace {
std::string styled(bool on, std::string_view code, std::string_view text) {
  return on ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}
}  // namespace

std::string Style::bold(std::string_view text) const { return styled(on, "1", text); }
std::string Style::dim(std::string_view text) const { return styled(on, "2", text); }
std::string Style::green(std::string_view text) const { return styled(on, "32", text); }
std::string Style::red(std::string_view text) const { return styled(on, "31", text); }

}  // namespace ako
