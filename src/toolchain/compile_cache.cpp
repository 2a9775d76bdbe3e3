// SPDX-License-Identifier: Apache-2.0
#include "toolchain/compile_cache.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/text.h"

namespace ako {
namespace fs = std::filesystem;
using nlohmann::json;
namespace {

constexpr int format_version = 1;
constexpr int stores_between_evictions = 64;
constexpr auto in_use = std::chrono::hours(1);

json artifact_json(const Artifact& artifact) {
  return {{"version", format_version},
          {"id", artifact.id.hex()},
          {"candidate", artifact.candidate.hex()},
          {"target", artifact.target},
          {"code_hash", artifact.code_hash.hex()},
          {"symbols", artifact.symbols},
          {"compiler", artifact.compiler},
          {"command", artifact.command},
          {"log", artifact.log},
          {"resources", artifact.resources.values}};
}

std::optional<Artifact> artifact_from(const json& value) {
  Artifact artifact;
  if (value.at("version") != format_version) return std::nullopt;
  bool hashes = Hash::parse(value.at("id").get<std::string>(), artifact.id) &&
                Hash::parse(value.at("candidate").get<std::string>(), artifact.candidate) &&
                Hash::parse(value.at("code_hash").get<std::string>(), artifact.code_hash);
  if (!hashes) return std::nullopt;
  artifact.target = value.at("target").get<std::string>();
  artifact.symbols = value.at("symbols").get<std::vector<std::string>>();
  artifact.compiler = value.at("compiler").get<std::string>();
  artifact.command = value.at("command").get<std::vector<std::string>>();
  artifact.log = value.at("log").get<std::string>();
  artifact.resources.values = value.at("resources").get<std::map<std::string, std::int64_t>>();
  artifact.cached = true;
  return artifact;
}

std::optional<Artifact> read_entry(const fs::path& entry, const Hash& key) {
  auto text = read_file(entry / "artifact.json");
  auto code = read_file(entry / "code.so");
  if (!text || !code) return std::nullopt;
  try {
    auto artifact = artifact_from(json::parse(*text));
    if (!artifact || artifact->id != key || artifact->code_hash != hash_text(*code)) return std::nullopt;
    artifact->code = entry / "code.so";
    return artifact;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

}  // namespace

CompileCache::CompileCache(fs::path folder, Bytes limit) : folder_(std::move(folder)), limit_(limit) {}

std::optional<Artifact> CompileCache::find(const Hash& key) const {
  fs::path entry = folder_ / key.hex();
  std::error_code code;
  if (!fs::exists(entry, code)) return std::nullopt;
  auto artifact = read_entry(entry, key);
  if (!artifact)
    fs::remove_all(entry, code);
  else
    fs::last_write_time(entry, fs::file_time_type::clock::now(), code);  // evict() goes by it
  return artifact;
}

Result<Artifact> CompileCache::store(Artifact artifact, std::string_view code) {
  artifact.code_hash = hash_text(code);
  artifact.log = printable(artifact.log, true);
  AKO_TRY(TemporaryFolder draft, TemporaryFolder::create("draft", folder_));
  AKO_CHECK(write_file(draft.path() / "code.so", code));
  AKO_CHECK(write_file(draft.path() / "artifact.json",
                       artifact_json(artifact).dump(1, ' ', false, json::error_handler_t::replace)));
  fs::path entry = folder_ / artifact.id.hex();
  std::error_code failed;
  fs::rename(draft.path(), entry, failed);
  if (failed) {  // someone else stored it first; find() removes it if it is damaged
    if (auto stored = find(artifact.id)) return *stored;
    fs::rename(draft.path(), entry, failed);
  }
  if (failed)
    return fail(ErrorKind::io, "cannot store compiled code in " + folder_.string() + ": " + failed.message(),
                "set AKO_CACHE_DIR to a folder that can be written");
  if (stored_++ % stores_between_evictions == 0) evict();
  artifact.code = entry / "code.so";
  return artifact;
}

void CompileCache::evict() const {
  struct Entry {
    fs::path path;
    fs::file_time_type used;
    std::int64_t bytes;
  };
  std::vector<Entry> entries;
  std::int64_t total = 0;
  std::error_code code;
  for (const fs::directory_entry& each : fs::directory_iterator(folder_, code)) {
    std::int64_t bytes = 0;
    for (const char* file : {"code.so", "artifact.json"}) {
      auto size = fs::file_size(each.path() / file, code);
      if (!code) bytes += static_cast<std::int64_t>(size);
    }
    entries.push_back({each.path(), fs::last_write_time(each.path(), code), bytes});
    total += bytes;
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (total <= limit_.count || entry.used > fs::file_time_type::clock::now() - in_use) break;
    fs::remove_all(entry.path, code);
    total -= entry.bytes;
  }
}

}  // namespace ako
