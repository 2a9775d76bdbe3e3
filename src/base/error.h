// SPDX-License-Identifier: Apache-2.0
// Errors as values. An Error says what was wrong, where, and what to do about it.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

namespace ako {

enum class ErrorKind {
  invalid_input,  // the user's file, flag or message is wrong
  not_found,      // a file, symbol, tool or record is missing
  unsupported,    // well-formed, but this build or machine cannot do it
  io,             // the operating system refused: full disk, permission, broken pipe
  limit,          // a time, memory or size limit was reached
  conflict,       // someone else holds it, or it exists already
  corrupt,        // a record is damaged or from another version
  unavailable,    // infrastructure is down; trying again may help
  internal,       // a bug in ako
};

/// A position in a user's input; line and column count from 1, 0 means unknown.
struct Place {
  std::string file;
  int line = 0;
  int column = 0;
  friend bool operator==(const Place&, const Place&) = default;
};

struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string what;    // what was wrong, a sentence without a trailing full stop
  std::string advice;  // what to do, may be empty
  std::optional<Place> place = std::nullopt;
  std::string excerpt = {};  // the offending line of input with a caret line below it, may be empty
};

template <class T>
using Result = std::expected<T, Error>;

/// For inputs in which several mistakes are reported at once; never empty in the error case.
template <class T>
using Parsed = std::expected<T, std::vector<Error>>;

/// "FILE:LINE:COLUMN: error: WHAT", the excerpt, and "help: ADVICE", each on lines of their own.
std::string to_text(const Error&);
std::string to_text(const std::vector<Error>&);
std::string_view to_text(ErrorKind);

/// Shorthand: `return fail(ErrorKind::io, "cannot open …", "check …");`
std::unexpected<Error> fail(ErrorKind, std::string what, std::string advice = {});

}  // namespace ako

#define AKO_CONCAT_(a, b) a##b
#define AKO_CONCAT(a, b) AKO_CONCAT_(a, b)
/// AKO_TRY(auto x, f()): x is f()'s value, or the enclosing function returns f()'s error.
#define AKO_TRY(declaration, expression) AKO_TRY_(AKO_CONCAT(ako_try_, __LINE__), declaration, expression)
#define AKO_TRY_(temporary, declaration, expression)                    \
  auto temporary = (expression);                                        \
  if (!temporary) return std::unexpected(std::move(temporary).error()); \
  declaration = std::move(*temporary)
/// AKO_CHECK(f()): returns f()'s error, if any, from the enclosing function.
#define AKO_CHECK(expression)                                                                               \
  do {                                                                                                      \
    if (auto ako_check_ = (expression); !ako_check_) return std::unexpected(std::move(ako_check_).error()); \
  } while (false)
