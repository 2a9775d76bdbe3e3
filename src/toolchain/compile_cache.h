// SPDX-License-Identifier: Apache-2.0
// Compiled candidates by content: FOLDER/HASH/{code.so, artifact.json}. An entry appears whole or not at all
// (it is prepared beside and renamed), is never changed, and is believed only while its code has the hash it
// was stored with. Safe for several processes at once.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "kernel/artifact.h"

namespace ako {

class CompileCache {
 public:
  explicit CompileCache(std::filesystem::path folder, Bytes limit = gibibytes(2));

  /// The artifact stored under this key, with `cached` set. A damaged entry is removed and not found.
  std::optional<Artifact> find(const Hash& key) const;
  /// Stores `code` as artifact.id; fills in artifact.code and artifact.code_hash.
  Result<Artifact> store(Artifact artifact, std::string_view code);
  /// Removes the entries unused for longest until the rest is within the limit. Entries used within the last
  /// hour stay: someone may be about to load them.
  void evict() const;

 private:
  std::filesystem::path folder_;
  Bytes limit_;
  int stored_ = 0;
};

}  // namespace ako
