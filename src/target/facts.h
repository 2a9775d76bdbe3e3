// SPDX-License-Identifier: Apache-2.0
// What is known of a device: looked up or measured, each number with its source.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "kernel/artifact.h"
#include "problem/cost.h"

namespace ako {

struct Fact {
  double value = 0;
  std::string source;  // "measured 2026-11-21 by ako doctor --measure", "sysfs", "CPUID", "MI300X data sheet"
};

struct CacheLevel {
  int level = 1;
  Bytes size;
  int shared_by = 1;  // cores
};

struct TargetFacts {
  TargetId id;                     // "host"
  std::string device;              // "AMD EPYC 9654 …"
  int compute_units = 1;           // cores or CUs usable by a kernel
  int vector_bits = 128;           // host: widest usable SIMD register
  std::vector<std::string> features;  // host: "avx2", "avx512f", "avx512_bf16", "amx_bf16" …
  std::vector<CacheLevel> caches;     // data caches, level ascending
  /// "copy_bandwidth_bytes_per_s" (read + write), "read_bandwidth_bytes_per_s", "peak_flops_f32", "peak_flops_f64",
  /// "peak_flops_bf16", "timer_resolution_s", "release_overhead_s", "clock_hz" …
  std::map<std::string, Fact> facts;

  bool has(std::string_view feature) const;
  std::optional<double> fact(std::string_view name) const;
  Bytes last_level_cache() const;  // of the whole device; 0 when unknown
};

nlohmann::json to_json(const TargetFacts&);
Result<TargetFacts> target_facts_from_json(const nlohmann::json&);

/// The least time this work can take on this device, and which roof says so.
struct Roofline {
  Microseconds duration{0};
  std::string bound;  // "memory" or "compute"; "unknown" when the device was never measured
};
/// `type`: the type that the arithmetic runs in (its peak is looked up; f32's when there is none).
Roofline roofline(const Cost&, const TargetFacts&, ScalarType type);
/// The arithmetic type a kernel of this problem would use: the widest floating type among inputs of the heaviest
/// statement, at least f32 for accumulation outside contractions.
ScalarType arithmetic_type(const Problem&);

}  // namespace ako
