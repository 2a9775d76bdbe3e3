// SPDX-License-Identifier: Apache-2.0
#include "judge/noise.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/random.h"
#include "judge/decision.h"
#include "judge/json_fields.h"

namespace ako {
namespace {

constexpr int kVersion = 1;
constexpr int kResamples = 2000;
constexpr std::size_t kBlocks = 8;

std::filesystem::path noise_file() { return data_folder() / "noise" / "host.json"; }

}  // namespace

double Noise::of(Microseconds launch) const {
  for (const auto& one : classes)
    if (launch <= one.up_to) return std::max(kLeastNoise, one.ratio_p99);
  return kLeastNoise;
}

double noise_p99(const std::vector<double>& blocks) {
  if (blocks.size() < kBlocks) return 0;
  Random random(0x6e6f697365);
  std::vector<double> estimates, drawn(kBlocks);
  for (int i = 0; i < kResamples; ++i) {
    for (double& value : drawn) value = blocks[random.below(blocks.size())];
    estimates.push_back(std::abs(hodges_lehmann(drawn, 0.01).center));
  }
  auto rank = static_cast<std::ptrdiff_t>(0.99 * kResamples);
  std::nth_element(estimates.begin(), estimates.begin() + rank, estimates.end());
  return estimates[static_cast<std::size_t>(rank)];
}

Noise load_noise(const std::string& machine) {
  auto text = read_file(noise_file());
  if (!text) return {};
  auto value = nlohmann::json::parse(*text, nullptr, false);
  if (value.is_discarded() || json_fields::integer(value, "version") != kVersion) return {};
  Noise noise{json_fields::text(value, "machine"), json_fields::text(value, "measured"), {}};
  if (noise.machine != machine) return {};
  for (const auto& one : json_fields::field(value, "classes"))
    noise.classes.push_back({Microseconds(json_fields::real(one, "up_to_us")),
                             json_fields::real(one, "ratio_p99"),
                             static_cast<int>(json_fields::integer(one, "blocks"))});
  return noise;
}

Result<void> store_noise(const Noise& noise) {
  nlohmann::json value = {{"version", kVersion}, {"machine", noise.machine}, {"measured", noise.measured}};
  value["classes"] = nlohmann::json::array();
  for (const auto& one : noise.classes)
    value["classes"].push_back(
        {{"up_to_us", one.up_to.count()}, {"ratio_p99", one.ratio_p99}, {"blocks", one.blocks}});
  return write_file(noise_file(), value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace ako
