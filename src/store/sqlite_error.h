// SPDX-License-Identifier: Apache-2.0
// SQLite's result codes as ako's errors. Private to src/store.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/error.h"

struct sqlite3;

namespace ako {

/// `code`: an extended result code. `database` may be null.
Error sqlite_error(int code, sqlite3* database, const std::filesystem::path& path, std::string_view doing);

}  // namespace ako
