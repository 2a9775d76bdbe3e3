// SPDX-License-Identifier: Apache-2.0
// The table of languages: one line each.
#include <algorithm>
#include <cctype>
#include <filesystem>

#include "kernel/artifact.h"

namespace ako {
namespace {

struct Row {
  Language language;
  std::string_view name;
  std::string_view
      extensions;  // separated and ended by spaces; Python's DSLs share one, which then says nothing
};
constexpr Row table[] = {
    {Language::cpp, "CPP", ".cpp .cc .cxx .c "},
    {Language::cuda, "CUDA", ".cu "},
    {Language::hip, "HIP", ".hip "},
    {Language::triton, "TRITON", ".py "},
    {Language::tilelang, "TILELANG", ""},
    {Language::flydsl, "FLYDSL", ""},
};

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace

std::string_view name_of(Language language) {
  for (const Row& row : table)
    if (row.language == language) return row.name;
  return "?";
}

std::optional<Language> language_from(std::string_view name) {
  std::string wanted = upper(name);
  if (wanted == "C++") wanted = "CPP";
  for (const Row& row : table)
    if (row.name == wanted) return row.language;
  return std::nullopt;
}

std::optional<Language> language_of_file(const std::filesystem::path& path) {
  std::string extension = path.extension().string() + " ";
  if (extension.size() < 2) return std::nullopt;
  for (const Row& row : table)
    if (row.extensions.find(extension) != std::string_view::npos) return row.language;
  return std::nullopt;
}

std::string_view name_of(Trust trust) {
  switch (trust) {
    case Trust::device_only:
      return "device-only";
    case Trust::isolated:
      return "isolated";
    case Trust::unconfined:
      return "unconfined";
    case Trust::reported:
      return "reported";
  }
  return "reported";
}

}  // namespace ako
