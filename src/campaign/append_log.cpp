// SPDX-License-Identifier: Apache-2.0
#include "campaign/append_log.h"

#include "base/files.h"

namespace ako {
namespace {

/// Where `begin` starts a line of `text`; npos: nowhere.
std::size_t line_start(const std::string& text, const std::string& begin) {
  for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1))
    if (at == 0 || text[at - 1] == '\n') return at;
  return std::string::npos;
}

}  // namespace

std::string synced_log(std::string existing, const std::string& header,
                       const std::vector<LogEntry>& entries) {
  // Without its whole header the file was torn at its first write.
  if (!existing.starts_with(header)) existing = header.starts_with(existing) ? header : header + existing;
  if (existing.back() != '\n') existing.erase(existing.rfind('\n') + 1);
  for (const LogEntry& entry : entries) {
    if (existing.find(entry.end) != std::string::npos) continue;
    if (std::size_t torn = line_start(existing, entry.begin); torn != std::string::npos) existing.erase(torn);
    existing += entry.text;
  }
  return existing;
}

Result<void> sync_log(const std::filesystem::path& path, const std::string& header,
                      const std::vector<LogEntry>& entries) {
  std::string existing;
  if (auto content = read_file(path))
    existing = std::move(*content);
  else if (content.error().kind != ErrorKind::not_found)
    return std::unexpected(content.error());
  std::string wanted = synced_log(existing, header, entries);
  if (wanted == existing) return {};
  // The usual case only appends, so that a reader who follows the file misses nothing.
  if (!existing.empty() && wanted.starts_with(existing))
    return append_file(path, std::string_view(wanted).substr(existing.size()));
  return write_file(path, wanted);
}

}  // namespace ako
