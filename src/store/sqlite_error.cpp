// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite_error.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include "base/text.h"

namespace ako {
namespace {

std::string salvage_advice(const std::filesystem::path& path) {
  std::string file = shell_quote(path.string());
  return fmt::format(
      "nothing was deleted; what can still be read is saved by: sqlite3 {} .recover | sqlite3 {}", file,
      shell_quote(path.string() + ".salvaged"));
}

}  // namespace

Error sqlite_error(int code, sqlite3* database, const std::filesystem::path& path, std::string_view doing) {
  std::string detail = database ? sqlite3_errmsg(database) : sqlite3_errstr(code);
  auto error = [&](ErrorKind kind, std::string what, std::string advice = {}) {
    return Error{kind, std::move(what), std::move(advice)};
  };
  switch (code & 0xFF) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return error(ErrorKind::corrupt, fmt::format("the database {} is damaged ({})", path.string(), detail),
                   salvage_advice(path));
    case SQLITE_FULL:
      return error(ErrorKind::io, fmt::format("cannot {} {}: the disk is full", doing, path.string()),
                   "free some disk space and run the command again; everything committed before is kept");
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return error(ErrorKind::io, fmt::format("cannot {} {}: {}", doing, path.string(), detail),
                   "check that the folder exists and may be written, or choose another one with --workspace");
    case SQLITE_IOERR:
      return error(ErrorKind::io,
                   fmt::format("cannot {} {}: {} (code {})", doing, path.string(), detail, code),
                   "check the disk (free space, quota, health); everything committed before is kept");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return error(ErrorKind::unavailable,
                   fmt::format("cannot {} {}: another process is writing to it", doing, path.string()),
                   "try again when that process has ended");
    case SQLITE_CONSTRAINT:
      return error(ErrorKind::conflict, fmt::format("cannot {} {}: {}", doing, path.string(), detail));
    case SQLITE_NOMEM:
      return error(ErrorKind::limit, "out of memory");
    default:
      return error(ErrorKind::internal,
                   fmt::format("cannot {} {}: {} (code {})", doing, path.string(), detail, code));
  }
}

}  // namespace ako
