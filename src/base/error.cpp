// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <fmt/format.h>

namespace ako {

std::string_view to_text(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_input:
      return "invalid_input";
    case ErrorKind::not_found:
      return "not_found";
    case ErrorKind::unsupported:
      return "unsupported";
    case ErrorKind::io:
      return "io";
    case ErrorKind::limit:
      return "limit";
    case ErrorKind::conflict:
      return "conflict";
    case ErrorKind::corrupt:
      return "corrupt";
    case ErrorKind::unavailable:
      return "unavailable";
    case ErrorKind::internal:
      return "internal";
  }
  return "internal";
}

std::string to_text(const Error& error) {
  std::string text;
  if (error.place) {
    text += error.place->file;
    if (error.place->line > 0) text += fmt::format(":{}", error.place->line);
    if (error.place->line > 0 && error.place->column > 0) text += fmt::format(":{}", error.place->column);
    text += ": ";
  }
  text += "error: " + error.what;
  if (!error.excerpt.empty()) text += "\n" + error.excerpt;
  if (!error.advice.empty()) text += "\n  help: " + error.advice;
  return text;
}

std::string to_text(const std::vector<Error>& errors) {
  std::string text;
  for (const Error& error : errors) {
    if (!text.empty()) text += "\n";
    text += to_text(error);
  }
  return text;
}

std::unexpected<Error> fail(ErrorKind kind, std::string what, std::string advice) {
  return std::unexpected(Error{kind, std::move(what), std::move(advice)});
}

}  // namespace ako
