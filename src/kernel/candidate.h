// SPDX-License-Identifier: Apache-2.0
// A Candidate: sources in one language plus a launch plan, named by its content.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "kernel/launch_plan.h"

namespace ako {

enum class Language : std::uint8_t { cpp, cuda, hip, triton, tilelang, flydsl };
std::string_view name_of(Language);                       // "CPP", "CUDA" … as in manifests
std::optional<Language> language_from(std::string_view);  // any case
std::optional<Language> language_of_file(
    const std::filesystem::path&);  // .cpp .cc .cxx .c → cpp, .cu, .hip, .py …

struct SourceFile {
  std::string path;  // relative, no "..", no leading "/": checked by check_source_path
  std::string text;
  friend bool operator==(const SourceFile&, const SourceFile&) = default;
};
/// Refuses what could leave a folder or confuse a reader: absolute paths, "." and ".." components, control
/// characters, bytes that are not UTF-8, a leading '-' or '@', backslashes, more than 4 KiB.
Result<void> check_source_path(std::string_view path);

struct Candidate {
  Language language = Language::cpp;
  std::vector<SourceFile> sources;
  LaunchPlan plan;
  Bindings tunables;               // chosen values; passed to the compiler as -DNAME=VALUE
  std::vector<std::string> flags;  // extra compiler flags, from the toolchain's allowed list only

  /// Over everything above, order of sources not mattering.
  Hash id() const;
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

/// Sources: at least one, valid paths, none twice, at most 64 and 4 MiB in all. What every loader checks.
Result<void> check_sources(const Candidate&);

/// {"language":"CPP","sources":[{"path":…,"text":…}],"plan":"YAML","tunables":{…},"flags":[…]}. A source that
/// is not UTF-8 has "hex" (two digits a byte) in place of "text".
nlohmann::json to_json(const Candidate&);
Result<Candidate> candidate_from_json(const nlohmann::json&);

/// Reads FILE (with FILE's stem + ".plan.yaml" beside it when there is one, else default_plan), or a folder
/// that holds candidate.yaml {language, sources: […], plan: {…} or launches…, tunables, flags}:
/// docs/candidates.md.
Parsed<Candidate> load_candidate(const std::filesystem::path&, const Problem&);
/// Writes the folder form: sources, candidate.yaml.
Result<void> save_candidate(const Candidate&, const std::filesystem::path& folder);

}  // namespace ako
