// SPDX-License-Identifier: Apache-2.0
#include "kernel/candidate.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace ako {
namespace {

constexpr std::size_t longest_path = 4096;
constexpr std::size_t most_sources = 64;
constexpr std::size_t largest_sources = 4 << 20;

std::unexpected<Error> bad_path(std::string_view path, std::string_view why) {
  return fail(ErrorKind::invalid_input,
              fmt::format("'{}' cannot be a source's path: {}", printable(path.substr(0, 80)), why),
              "sources have relative paths inside the candidate, such as softmax.cpp or detail/rows.h");
}

}  // namespace

Result<void> check_source_path(std::string_view path) {
  if (path.empty()) return bad_path(path, "it is empty");
  if (path.size() > longest_path) return bad_path(path, fmt::format("longer than {} bytes", longest_path));
  if (path.front() == '/') return bad_path(path, "it is absolute");
  if (path.front() == '-' || path.front() == '@') return bad_path(path, "it begins like a compiler's option");
  if (path.find('\\') != std::string_view::npos) return bad_path(path, "it holds a backslash");
  if (printable(path) != path)
    return bad_path(path, "it holds control characters or bytes that are not UTF-8");
  for (std::string_view rest = path; !rest.empty();) {
    std::string_view part = rest.substr(0, rest.find('/'));
    if (part.empty() || part == "." || part == "..")
      return bad_path(path, "a component of it is empty, '.' or '..'");
    if (part.size() > 255) return bad_path(path, "a component of it is longer than 255 bytes");
    if (rest.size() == part.size() + 1) return bad_path(path, "it ends with '/'");
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  }
  return {};
}

Result<void> check_sources(const Candidate& candidate) {
  if (candidate.sources.empty()) return fail(ErrorKind::invalid_input, "the candidate has no sources");
  if (candidate.sources.size() > most_sources)
    return fail(ErrorKind::limit, fmt::format("{} sources are too many", candidate.sources.size()),
                fmt::format("at most {}", most_sources));
  std::size_t total = 0;
  std::vector<std::string_view> seen;
  for (const SourceFile& source : candidate.sources) {
    AKO_CHECK(check_source_path(source.path));
    if (std::find(seen.begin(), seen.end(), source.path) != seen.end())
      return fail(ErrorKind::invalid_input, fmt::format("the source '{}' is there twice", source.path));
    seen.push_back(source.path);
    total += source.text.size();
  }
  if (total > largest_sources)
    return fail(ErrorKind::limit, fmt::format("{} bytes of sources are too many", total),
                "at most 4 MiB in all");
  return {};
}

Hash Candidate::id() const {
  std::vector<const SourceFile*> sorted;
  for (const SourceFile& source : sources) sorted.push_back(&source);
  std::sort(sorted.begin(), sorted.end(),
            [](const SourceFile* a, const SourceFile* b) { return a->path < b->path; });
  Hasher hasher("candidate/1");
  hasher.add(name_of(language)).add(static_cast<std::int64_t>(sorted.size()));
  for (const SourceFile* source : sorted) hasher.add(source->path).add(source->text);
  hasher.add(to_yaml(plan)).add(static_cast<std::int64_t>(tunables.size()));
  for (const auto& [name, value] : tunables) hasher.add(name).add(value);
  for (const std::string& flag : flags) hasher.add(flag);
  return hasher.finish();
}

}  // namespace ako
