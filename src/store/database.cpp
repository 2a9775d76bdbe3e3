// SPDX-License-Identifier: Apache-2.0
#include "store/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include "base/files.h"
#include "base/version.h"
#include "store/sqlite_error.h"

namespace ako {
namespace fs = std::filesystem;

struct Query::State {
  sqlite3* database = nullptr;
  sqlite3_stmt* statement = nullptr;
  fs::path path;
  int bind_error = SQLITE_OK;
  ~State() { sqlite3_finalize(statement); }
  void note(int code) {
    if (bind_error == SQLITE_OK) bind_error = code;
  }
};

Query::Query(std::unique_ptr<State> state) : state_(std::move(state)) {}
Query::Query(Query&&) noexcept = default;
Query& Query::operator=(Query&&) noexcept = default;
Query::~Query() = default;

Query& Query::bind(int parameter, std::int64_t value) {
  return state_->note(sqlite3_bind_int64(state_->statement, parameter, value)), *this;
}
Query& Query::bind(int parameter, double value) {
  return state_->note(sqlite3_bind_double(state_->statement, parameter, value)), *this;
}
Query& Query::bind(int parameter, std::string_view value) {
  // An empty view may have no address; SQLite would read that as NULL.
  const char* data = value.empty() ? "" : value.data();
  return state_->note(sqlite3_bind_text64(state_->statement, parameter, data, value.size(), SQLITE_TRANSIENT,
                                          SQLITE_UTF8)),
         *this;
}
Query& Query::bind_bytes(int parameter, std::string_view value) {
  const char* data = value.empty() ? "" : value.data();
  return state_->note(
             sqlite3_bind_blob64(state_->statement, parameter, data, value.size(), SQLITE_TRANSIENT)),
         *this;
}
Query& Query::bind_null(int parameter) {
  return state_->note(sqlite3_bind_null(state_->statement, parameter)), *this;
}

Result<bool> Query::step() {
  if (state_->bind_error != SQLITE_OK)
    return std::unexpected(
        sqlite_error(state_->bind_error, state_->database, state_->path, "bind a parameter for"));
  int code = sqlite3_step(state_->statement);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return std::unexpected(sqlite_error(code, state_->database, state_->path,
                                      sqlite3_stmt_readonly(state_->statement) ? "read" : "write"));
}

Result<void> Query::finish() {
  while (true) {
    AKO_TRY(bool more, step());
    if (!more) return {};
  }
}

void Query::reset() {
  sqlite3_reset(state_->statement);
  sqlite3_clear_bindings(state_->statement);
  state_->bind_error = SQLITE_OK;
}

std::int64_t Query::integer(int column) const { return sqlite3_column_int64(state_->statement, column); }
double Query::real(int column) const { return sqlite3_column_double(state_->statement, column); }
bool Query::is_null(int column) const {
  return sqlite3_column_type(state_->statement, column) == SQLITE_NULL;
}
std::string Query::text(int column) const {
  const void* data = sqlite3_column_blob(state_->statement, column);
  auto size = static_cast<std::size_t>(sqlite3_column_bytes(state_->statement, column));
  return data ? std::string(static_cast<const char*>(data), size) : std::string();
}

struct Database::State {
  sqlite3* handle = nullptr;
  fs::path path;
  bool in_transaction = false;
  ~State() { sqlite3_close_v2(handle); }
  std::unexpected<Error> error(int code, std::string_view doing) const {
    return std::unexpected(sqlite_error(code, handle, path, doing));
  }
};

Database::Database(std::unique_ptr<State> state) : state_(std::move(state)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Result<Query> Database::prepare(std::string_view sql) {
  auto state = std::make_unique<Query::State>();
  state->database = state_->handle;
  state->path = state_->path;
  int code = sqlite3_prepare_v2(state_->handle, sql.data(), static_cast<int>(sql.size()), &state->statement,
                                nullptr);
  if (code != SQLITE_OK) return state_->error(code, "read");
  return Query(std::move(state));
}

Result<void> Database::execute(std::string_view sql) {
  int code = sqlite3_exec(state_->handle, std::string(sql).c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return state_->error(code, "write");
  return {};
}

Result<void> Database::transaction(const std::function<Result<void>()>& body) {
  if (state_->in_transaction) return fail(ErrorKind::internal, "a transaction was begun inside another one");
  AKO_CHECK(execute("BEGIN IMMEDIATE"));
  state_->in_transaction = true;
  Result<void> result = body();
  if (result) result = execute("COMMIT");
  // Some errors (a full disk) have rolled back already; a second ROLLBACK then fails and changes nothing.
  if (!result) sqlite3_exec(state_->handle, "ROLLBACK", nullptr, nullptr, nullptr);
  state_->in_transaction = false;
  return result;
}

std::int64_t Database::last_insert_id() const { return sqlite3_last_insert_rowid(state_->handle); }

Result<Hash> Database::put_blob(std::string_view content) {
  Hash hash = hash_text(content);
  AKO_TRY(Query insert, prepare("INSERT INTO ako_blobs(hash, content) VALUES(?, ?) ON CONFLICT DO NOTHING"));
  AKO_CHECK(insert.bind(1, hash.hex()).bind_bytes(2, content).finish());
  return hash;
}

Result<std::string> Database::get_blob(const Hash& hash) {
  AKO_TRY(Query select, prepare("SELECT content FROM ako_blobs WHERE hash = ?"));
  AKO_TRY(bool found, select.bind(1, hash.hex()).step());
  if (!found)
    return fail(ErrorKind::not_found,
                fmt::format("{} holds no content {}", state_->path.string(), hash.short_hex()));
  std::string content = select.text(0);
  if (hash_text(content) != hash)
    return std::unexpected(sqlite_error(SQLITE_CORRUPT, nullptr, state_->path, "read"));
  return content;
}

namespace {

const Schema blobs{"blobs",
                   {"CREATE TABLE ako_blobs(hash TEXT PRIMARY KEY, content BLOB NOT NULL) WITHOUT ROWID"}};

Result<std::int64_t> stored_version(Database& database, const Schema& schema, const fs::path& path) {
  AKO_TRY(Query query, database.prepare("SELECT version, written_by FROM ako_schema WHERE name = ?"));
  AKO_TRY(bool known, query.bind(1, schema.name).step());
  if (!known) return 0;
  std::int64_t version = query.integer(0), current = std::ssize(schema.migrations);
  if (version > current)
    return fail(
        ErrorKind::corrupt,
        fmt::format(
            "{} was written by ako {}: its '{}' tables have version {}, and this is ako {}, which knows "
            "versions up to {}",
            path.string(), query.text(1), schema.name, version, ako::version, current),
        fmt::format("use ako {} or newer; nothing was changed", query.text(1)));
  return version;
}

Result<void> bring_up_to_date(Database& database, const Schema& schema, const fs::path& path) {
  AKO_TRY(std::int64_t version, stored_version(database, schema, path));
  if (version == std::ssize(schema.migrations)) return {};
  for (auto i = static_cast<std::size_t>(version); i < schema.migrations.size(); ++i)
    AKO_CHECK(database.execute(schema.migrations[i]));
  AKO_TRY(Query insert,
          database.prepare("INSERT INTO ako_schema(name, version, written_by) VALUES(?1, ?2, ?3) "
                           "ON CONFLICT(name) DO UPDATE SET version = ?2, written_by = ?3"));
  return insert.bind(1, schema.name)
      .bind(2, std::int64_t{std::ssize(schema.migrations)})
      .bind(3, ako::version)
      .finish();
}

Result<void> migrate(Database& database, const std::vector<Schema>& schemas, const fs::path& path) {
  return database.transaction([&]() -> Result<void> {
    AKO_CHECK(database.execute(
        "CREATE TABLE IF NOT EXISTS ako_schema(name TEXT PRIMARY KEY, version INTEGER NOT NULL, "
        "written_by TEXT NOT NULL) WITHOUT ROWID"));
    AKO_CHECK(bring_up_to_date(database, blobs, path));
    for (const Schema& schema : schemas) AKO_CHECK(bring_up_to_date(database, schema, path));
    return {};
  });
}

Result<void> require_current(Database& database, const std::vector<Schema>& schemas, const fs::path& path) {
  for (const Schema& schema : schemas) {
    auto version = stored_version(database, schema, path);
    if (!version && version.error().kind != ErrorKind::internal) return std::unexpected(version.error());
    if (!version || *version != std::ssize(schema.migrations))
      return fail(ErrorKind::corrupt,
                  fmt::format("{} holds no current '{}' tables", path.string(), schema.name),
                  "it may be from an older ako, or no file of ako's: 'ako resume' on its folder brings it up "
                  "to date");
  }
  return {};
}

/// SQLite's own structural check: cheap for databases of a campaign's size, and it finds damage before it
/// spreads.
Result<void> check_structure(Database& database, const fs::path& path) {
  AKO_TRY(Query check, database.prepare("PRAGMA quick_check(1)"));
  AKO_TRY(bool row, check.step());
  if (row && check.text(0) == "ok") return {};
  Error error = sqlite_error(SQLITE_CORRUPT, nullptr, path, "read");
  error.what =
      fmt::format("the database {} is damaged ({})", path.string(), row ? check.text(0) : "no answer");
  return std::unexpected(error);
}

std::string uri_of(const fs::path& path, std::string_view query) {
  std::string uri = "file:";
  for (char c : path.string()) {
    if (c == '?' || c == '#' || c == '%')
      uri += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    else
      uri += c;
  }
  return fmt::format("{}?{}", uri, query);
}

}  // namespace

Result<Database> Database::open(const fs::path& path, const std::vector<Schema>& schemas, OpenMode mode) {
  bool reading = mode == OpenMode::read_only;
  std::error_code missing;
  if (reading && !fs::exists(path, missing))
    return fail(ErrorKind::not_found, fmt::format("there is no database {}", path.string()));
  auto connect = [&](std::string_view how) -> Result<Database> {
    auto state = std::make_unique<State>();
    state->path = path;
    int flags =
        SQLITE_OPEN_URI | (reading ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    int code = sqlite3_open_v2(uri_of(fs::absolute(path).lexically_normal(), how).c_str(), &state->handle,
                               flags, nullptr);
    if (code != SQLITE_OK) return state->error(code, "open");
    sqlite3_extended_result_codes(state->handle, 1);
    sqlite3_busy_timeout(state->handle, 10'000);
    Database database(std::move(state));
    AKO_CHECK(check_structure(database, path));
    return database;
  };
  auto database = connect(reading ? "mode=ro" : "mode=rwc");
  // On a read-only medium SQLite cannot make the shared-memory file that a WAL reader needs. Without a log
  // left behind, the file alone is the whole database and may be read as immutable.
  if (!database && reading && database.error().kind == ErrorKind::io &&
      !fs::exists(path.string() + "-wal", missing))
    database = connect("immutable=1");
  if (!database) return database;
  if (reading) {
    AKO_CHECK(require_current(*database, schemas, path));
    return database;
  }
  // FULL: a commit is on the disk when it returns, also if the machine loses power.
  AKO_CHECK(database->execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON"));
  AKO_CHECK(migrate(*database, schemas, path));
  return database;
}

}  // namespace ako
