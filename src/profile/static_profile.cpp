// SPDX-License-Identifier: Apache-2.0
#include "profile/static_profile.h"

#include <nlohmann/json.hpp>

#include "base/text.h"

namespace ako {
using nlohmann::json;
namespace {

StaticProfile profile_of(const CodeObjectMember& member, const CodeObject& object,
                         const Disassembler* disassembler) {
  StaticProfile profile;
  profile.member = member.id;
  profile.target = object.target;
  profile.format = object.format;
  std::map<std::string, InstructionMix> mixes;
  if (!disassembler) {
    profile.no_disassembly = "not asked for";
  } else if (auto read = disassembler->mixes(member.bytes, object.target)) {
    mixes = std::move(*read);
    if (mixes.empty() && !object.kernels.empty())
      profile.no_disassembly = "the disassembler that is here does not know " + object.target;
  } else {
    profile.no_disassembly =
        read.error().what + (read.error().advice.empty() ? "" : ": " + read.error().advice);
  }
  for (const KernelFacts& facts : object.kernels) {
    KernelProfile kernel{facts, occupancy(object.target, facts.needs()), {}};
    if (auto mix = mixes.find(facts.name); mix != mixes.end()) kernel.mix = mix->second;
    profile.kernels.push_back(std::move(kernel));
  }
  return profile;
}

json widths_json(const std::map<int, std::int64_t>& widths) {
  json out = json::object();
  for (const auto& [bytes, count] : widths) out[std::to_string(bytes)] = count;
  return out;
}

json kernel_json(const KernelProfile& kernel) {
  const KernelFacts& facts = kernel.facts;
  json out = {{"name", printable(facts.name)}, {"code_bytes", facts.code_bytes}};
  auto put = [&](const char* name, const std::optional<std::int64_t>& value) {
    if (value) out[name] = *value;
  };
  put("registers", facts.registers);
  put("vgprs", facts.vgprs);
  put("agprs", facts.agprs);
  put("sgprs", facts.sgprs);
  put("vgpr_spills", facts.vgpr_spills);
  put("sgpr_spills", facts.sgpr_spills);
  put("scratch_bytes", facts.scratch_bytes);
  put("lds_bytes", facts.lds_bytes);
  put("kernarg_bytes", facts.kernarg_bytes);
  put("max_threads", facts.max_threads);
  put("wave_size", facts.wave_size);
  if (facts.describes_parameters) {
    out["parameters"] = json::array();
    for (const KernelParameter& each : facts.parameters)
      if (!each.hidden())
        out["parameters"].push_back(
            {{"offset", each.offset}, {"size", each.size}, {"kind", printable(each.kind)}});
  }
  if (!facts.disagreements.empty()) out["disagreements"] = facts.disagreements;
  if (kernel.occupancy)
    out["occupancy"] = {{"waves_per_simd", kernel.occupancy->waves_per_simd},
                        {"most_waves_per_simd", kernel.occupancy->most_waves_per_simd},
                        {"blocks_per_unit", kernel.occupancy->blocks_per_unit},
                        {"limited_by", kernel.occupancy->limited_by}};
  if (kernel.mix.total() > 0)
    out["instructions"] = {{"total", kernel.mix.total()},
                           {"classes", kernel.mix.classes},
                           {"global_load_bytes", widths_json(kernel.mix.global_load_bytes)},
                           {"global_store_bytes", widths_json(kernel.mix.global_store_bytes)}};
  return out;
}

}  // namespace

Result<std::vector<StaticProfile>> static_profiles(std::string_view file, const Disassembler* disassembler) {
  AKO_TRY(auto members, code_object_members(file));
  if (members.empty()) return fail(ErrorKind::not_found, "the bundle holds no code object for a GPU");
  std::vector<StaticProfile> profiles;
  for (const CodeObjectMember& member : members) {
    AKO_TRY(CodeObject object, read_code_object(member.bytes));
    profiles.push_back(profile_of(member, object, disassembler));
  }
  return profiles;
}

json to_json(const StaticProfile& profile) {
  json kernels = json::array();
  for (const KernelProfile& kernel : profile.kernels) kernels.push_back(kernel_json(kernel));
  json out = {
      {"target", printable(profile.target)}, {"format", profile.format}, {"kernels", std::move(kernels)}};
  if (!profile.member.empty()) out["member"] = printable(profile.member);
  if (!profile.no_disassembly.empty()) out["no_disassembly"] = profile.no_disassembly;
  return out;
}

}  // namespace ako
