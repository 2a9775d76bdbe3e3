// SPDX-License-Identifier: Apache-2.0
#include "campaign/layout.h"

#include <fmt/format.h>

#include "base/files.h"

namespace ako::layout {
namespace fs = std::filesystem;
std::string path_word(std::string_view text) {
  std::string out;
  for (char c : text) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    bool capital = c >= 'A' && c <= 'Z';
    out += plain ? c : capital ? static_cast<char>(c - 'A' + 'a') : '-';
  }
  while (!out.empty() && out.front() == '.') out.erase(0, 1);
  return out.empty() ? "unnamed" : out.substr(0, 80);
}

fs::path round(const fs::path& folder, int number) {
  return folder / "rounds" / fmt::format("round-{}", number);
}

std::string folder_name(const Manifest& manifest, const std::string& date) {
  std::string day;
  for (char c : date)
    if (c != '-') day += c;
  return fmt::format("{}_{}_{}_{}", path_word(manifest.target_op), path_word(manifest.target_backend),
                     path_word(manifest.target_gpu), day);
}

Result<fs::path> make_folder(const Manifest& manifest, const fs::path& workspace, const std::string& date) {
  AKO_CHECK(create_folders(workspace));
  std::string name = folder_name(manifest, date);
  for (int serial = 1; serial < 10'000; ++serial) {
    fs::path folder = workspace / (serial == 1 ? name : fmt::format("{}_{}", name, serial));
    std::error_code code;
    if (fs::create_directory(folder, code)) return folder;  // false without an error: it exists
    if (code)
      return fail(ErrorKind::io, fmt::format("cannot create folder {}: {}", folder.string(), code.message()),
                  "check the permissions, or choose another folder with --workspace");
  }
  return fail(ErrorKind::limit,
              fmt::format("{} holds ten thousand campaigns of this name today", workspace.string()));
}

}  // namespace ako::layout
