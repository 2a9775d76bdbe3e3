// SPDX-License-Identifier: Apache-2.0
// A Markdown log that only grows, and that is behind or torn after a crash: what is missing is appended, what
// was half written is cut off, and what people added in between stays.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"

namespace ako {

struct LogEntry {
  std::string begin;  // text that only this entry starts with, from the start of a line
  std::string end;    // text that only the whole entry holds
  std::string text;   // ends with a newline; holds both
};

/// `existing` with its torn tail cut and the missing entries appended, in order. Pure; sync_log applies it to
/// a file.
std::string synced_log(std::string existing, const std::string& header, const std::vector<LogEntry>& entries);
Result<void> sync_log(const std::filesystem::path&, const std::string& header,
                      const std::vector<LogEntry>& entries);

}  // namespace ako
