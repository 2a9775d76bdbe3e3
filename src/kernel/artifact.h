// SPDX-License-Identifier: Apache-2.0
// An Artifact: what a toolchain made of a candidate for one target.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "kernel/candidate.h"

namespace ako {

/// "host", later "sm_90", "gfx942" …
using TargetId = std::string;

/// How far a judgement can be trusted: docs/judge.md.
enum class Trust : std::uint8_t {
  device_only,  // no candidate code on the measuring side
  isolated,     // candidate host code in a sandboxed guest; clock, inputs and check outside
  unconfined,   // as isolated, but the kernel refused namespaces or filters: processes and limits only
  reported,     // someone else's commands and numbers
};
std::string_view name_of(Trust);

/// Static facts; absent ones are not in the map. Host: "code_bytes". GPUs: "vgprs", "lds_bytes", "spills" …
struct ResourceUse {
  std::map<std::string, std::int64_t> values;
};

struct Artifact {
  Hash id;  // of every input that matters: candidate, flags, compiler identity, target
  Hash candidate;
  TargetId target;
  std::filesystem::path code;  // shared object (host) or code object, in the compile cache; content-hashed:
  Hash code_hash;              // checked again when it is loaded
  std::vector<std::string> symbols;
  std::string compiler;  // "g++ (Debian 12.2.0-14+deb12u1) 12.2.0"
  std::vector<std::string> command;
  std::string log;  // warnings
  ResourceUse resources;
  double compile_seconds = 0;  // 0 when it came from the cache
  bool cached = false;
};

}  // namespace ako
