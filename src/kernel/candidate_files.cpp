// SPDX-License-Identifier: Apache-2.0
// Candidates on disk: a single source file, with its plan beside it, or a folder with candidate.yaml.
#include <fmt/format.h>

#include <algorithm>

#include "base/files.h"
#include "base/text.h"
#include "kernel/candidate.h"
#include "kernel/plan_yaml.h"

namespace ako {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view manifest_name = "candidate.yaml";
const std::vector<std::string> manifest_keys{"language", "sources",   "plan",    "tunables",
                                             "flags",    "workspace", "launches"};

Parsed<Candidate> load_single(const fs::path& path, const Problem& problem) {
  Candidate candidate;
  auto language = language_of_file(path);
  if (!language)
    return std::unexpected(std::vector<Error>{
        {ErrorKind::invalid_input, fmt::format("{} says no language by its name", path.string()),
         "use .cpp, .cc, .cxx or .c for C++, or a folder with a candidate.yaml that says 'language:'"}});
  candidate.language = *language;
  auto text = read_file(path);
  if (!text) return std::unexpected(std::vector<Error>{text.error()});
  candidate.sources.push_back({path.filename().string(), std::move(*text)});
  if (auto fine = check_sources(candidate); !fine) return std::unexpected(std::vector<Error>{fine.error()});
  fs::path beside = path;
  beside.replace_extension(".plan.yaml");
  std::error_code code;
  if (!fs::exists(beside, code)) {
    candidate.plan = default_plan(problem);
    return candidate;
  }
  auto yaml = read_file(beside);
  if (!yaml) return std::unexpected(std::vector<Error>{yaml.error()});
  auto plan = parse_launch_plan(*yaml, beside.string());
  if (!plan) return std::unexpected(plan.error());
  candidate.plan = std::move(*plan);
  return candidate;
}

/// At the top level a tunable may be listed (its allowed values) or chosen (one integer, then the only
/// allowed one).
void read_flat_plan(const YAML::Node& manifest, Candidate& candidate, YamlReader& reader) {
  YAML::Node plan(YAML::NodeType::Map);
  for (const char* key : {"workspace", "launches"})
    if (manifest[key]) plan[key] = manifest[key];
  std::vector<std::pair<YAML::Node, YAML::Node>> chosen;
  if (const YAML::Node tunables = manifest["tunables"]; tunables && tunables.IsMap()) {
    YAML::Node listed(YAML::NodeType::Map);
    for (const auto& entry : tunables)
      if (entry.second.IsScalar())
        chosen.emplace_back(entry.first, entry.second);
      else
        listed[entry.first] = entry.second;
    plan["tunables"] = listed;
  } else if (tunables) {
    reader.mistake(tunables, "'tunables' must be a map");
  }
  candidate.plan = read_plan(plan, reader);
  for (const auto& [name, value] : chosen)
    if (auto number = reader.integer(value, "a tunable's value")) {
      candidate.tunables[name.Scalar()] = *number;
      candidate.plan.tunables[name.Scalar()] = {*number};
    }
}

void read_nested_plan(const YAML::Node& manifest, Candidate& candidate, YamlReader& reader) {
  for (const char* key : {"workspace", "launches"})
    if (manifest[key]) reader.mistake(manifest[key], fmt::format("'{}' belongs into 'plan:'", key));
  if (reader.check_keys(manifest["plan"], "'plan'", plan_keys()))
    candidate.plan = read_plan(manifest["plan"], reader);
  const YAML::Node tunables = manifest["tunables"];
  if (!tunables) return;
  if (!tunables.IsMap())
    return reader.mistake(tunables, "'tunables' must be a map of names to chosen integers");
  for (const auto& entry : tunables)
    if (auto number = reader.integer(entry.second, "the chosen value of a tunable"))
      candidate.tunables[reader.scalar(entry.first, "the name of a tunable").value_or("")] = *number;
}

void read_sources(const YAML::Node& manifest, const fs::path& folder, Candidate& candidate,
                  YamlReader& reader) {
  if (!manifest["sources"]) return reader.mistake(manifest, "'sources' is missing", "sources: [softmax.cpp]");
  for (const std::string& path : reader.scalars(manifest["sources"], "'sources'")) {
    auto fine = check_source_path(path);
    if (!fine) return reader.mistake(manifest["sources"], fine.error().what, fine.error().advice);
    auto text = read_file(folder / path);
    if (!text) return reader.mistake(manifest["sources"], text.error().what, text.error().advice);
    candidate.sources.push_back({path, std::move(*text)});
  }
  if (!reader.errors.empty()) return;
  if (auto fine = check_sources(candidate); !fine)
    reader.mistake(manifest["sources"], fine.error().what, fine.error().advice);
}

void read_language(const YAML::Node& manifest, Candidate& candidate, YamlReader& reader) {
  std::optional<Language> language;
  if (manifest["language"]) {
    std::string name = reader.scalar(manifest["language"], "'language'").value_or("");
    language = language_from(name);
    if (!language)
      return reader.mistake(manifest["language"], fmt::format("there is no language '{}'", name), "CPP");
  } else if (!candidate.sources.empty()) {
    language = language_of_file(candidate.sources.front().path);
    if (!language) return reader.mistake(manifest, "'language' is missing", "language: CPP");
  }
  candidate.language = language.value_or(Language::cpp);
}

void read_manifest(const YAML::Node& manifest, const fs::path& folder, const Problem& problem,
                   Candidate& candidate, YamlReader& reader) {
  if (!reader.check_keys(manifest, "candidate.yaml", manifest_keys)) return;
  read_sources(manifest, folder, candidate, reader);
  read_language(manifest, candidate, reader);
  if (manifest["flags"]) candidate.flags = reader.scalars(manifest["flags"], "'flags'");
  if (manifest["plan"])
    read_nested_plan(manifest, candidate, reader);
  else if (manifest["launches"])
    read_flat_plan(manifest, candidate, reader);
  else if (manifest["tunables"] || manifest["workspace"])
    reader.mistake(manifest, "'tunables' and 'workspace' need 'launches'");
  else
    candidate.plan = default_plan(problem);
}

Parsed<Candidate> load_folder(const fs::path& folder, const Problem& problem) {
  fs::path path = folder / manifest_name;
  auto text = read_file(path);
  if (!text) {
    Error error = text.error();
    if (error.kind == ErrorKind::not_found)
      error.advice =
          fmt::format("a candidate's folder holds a {}; or give a single source file", manifest_name);
    return std::unexpected(std::vector<Error>{std::move(error)});
  }
  YamlReader reader(*text, path.string());
  Candidate candidate;
  try {
    YAML::Node manifest = reader.load();
    if (reader.errors.empty()) read_manifest(manifest, folder, problem, candidate, reader);
  } catch (const YAML::Exception& exception) {
    reader.mistake(exception.mark, fmt::format("YAML: {}", exception.msg));
  }
  if (!reader.errors.empty()) return std::unexpected(std::move(reader.errors));
  return candidate;
}

std::string manifest_of(const Candidate& candidate) {
  auto quoted = [](const std::string& text) {
    std::string out = "\"";
    for (char c : printable(text)) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    return out + "\"";
  };
  std::string out = fmt::format("language: {}\nsources:\n", name_of(candidate.language));
  for (const SourceFile& source : candidate.sources) out += fmt::format("  - {}\n", quoted(source.path));
  if (!candidate.tunables.empty()) out += "tunables:\n";
  for (const auto& [name, value] : candidate.tunables) out += fmt::format("  {}: {}\n", quoted(name), value);
  if (!candidate.flags.empty()) out += "flags:\n";
  for (const std::string& flag : candidate.flags) out += fmt::format("  - {}\n", quoted(flag));
  out += "plan:\n";
  std::string plan = to_yaml(candidate.plan);
  for (std::string_view rest = plan; !rest.empty();) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    out += fmt::format("  {}\n", line);
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
  return out;
}

}  // namespace

Parsed<Candidate> load_candidate(const fs::path& path, const Problem& problem) {
  std::error_code code;
  return fs::is_directory(path, code) ? load_folder(path, problem) : load_single(path, problem);
}

Result<void> save_candidate(const Candidate& candidate, const fs::path& folder) {
  AKO_CHECK(check_sources(candidate));
  for (const SourceFile& source : candidate.sources) {
    if (source.path == manifest_name)
      return fail(ErrorKind::invalid_input, fmt::format("a source cannot be named {}", manifest_name));
    AKO_CHECK(write_file(folder / source.path, source.text));
  }
  return write_file(folder / manifest_name, manifest_of(candidate));
}

}  // namespace ako
