// SPDX-License-Identifier: Apache-2.0
// SQLite with explicit transactions and schema versions, and content-addressed blobs. Each folder above
// declares the rows it keeps as a Schema; a database holds several schemas side by side.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/hash.h"

namespace ako {

/// migrations[i] brings version i to i+1; the current version is migrations.size(). Migrate or refuse, never
/// delete.
struct Schema {
  std::string name;  // "campaign"
  std::vector<std::string> migrations;
};

class Database;

/// A prepared statement. Parameters count from 1, columns from 0. A mistake in binding is told by step().
/// Must not outlive its Database.
class Query {
 public:
  Query(Query&&) noexcept;
  Query& operator=(Query&&) noexcept;
  ~Query();
  Query& bind(int parameter, std::int64_t);
  Query& bind(int parameter, double);
  Query& bind(int parameter, std::string_view);
  Query& bind_null(int parameter);
  Query& bind_bytes(int parameter, std::string_view);
  /// True: there is a row. False: done.
  Result<bool> step();
  /// step() to the end.
  Result<void> finish();
  void reset();
  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  bool is_null(int column) const;

 private:
  friend class Database;
  struct State;
  explicit Query(std::unique_ptr<State>);
  std::unique_ptr<State> state_;
};

enum class OpenMode : std::uint8_t {
  read_write,  // made when missing, brought up to date
  read_only,   // must exist; works on a read-only medium and beside a writer; an older schema is refused
};

class Database {
 public:
  /// Opens or creates; WAL, synchronous=FULL, foreign keys on, busy timeout 10 s. Errors: corrupt (with
  /// advice on what can still be read), newer schema (corrupt; says which ako wrote it), read-only folder and
  /// full disk (io), missing (not_found, read_only only). Nothing is ever deleted to make it open.
  static Result<Database> open(const std::filesystem::path&, const std::vector<Schema>& schemas,
                               OpenMode mode = OpenMode::read_write);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  Result<Query> prepare(std::string_view sql);
  Result<void> execute(std::string_view sql);
  /// BEGIN IMMEDIATE … COMMIT; rolls back when `body` returns an error. Not nested.
  Result<void> transaction(const std::function<Result<void>()>& body);
  std::int64_t last_insert_id() const;

  /// Blobs: zlib-free, in a table of their own, one row per content.
  Result<Hash> put_blob(std::string_view content);
  /// Errors: not_found; corrupt when the content no longer has this hash.
  Result<std::string> get_blob(const Hash&);

 private:
  struct State;
  explicit Database(std::unique_ptr<State>);
  std::unique_ptr<State> state_;
};

/// An exclusive advisory lock on a file, with the owner's pid and command inside; released when the process
/// ends.
class OwnerLock {
 public:
  /// ErrorKind::conflict says who holds it.
  static Result<OwnerLock> take(const std::filesystem::path&);
  OwnerLock(OwnerLock&&) noexcept;
  OwnerLock& operator=(OwnerLock&&) noexcept;
  ~OwnerLock();

 private:
  explicit OwnerLock(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace ako
