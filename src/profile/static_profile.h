// SPDX-License-Identifier: Apache-2.0
// What can be told of kernels without running them: resources, occupancy, and the mix of their instructions.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "profile/disassembly.h"
#include "toolchain/code_object/code_object.h"

namespace ako {

struct KernelProfile {
  KernelFacts facts;
  std::optional<Occupancy>
      occupancy;       // of blocks of the largest size that the kernel allows, without dynamic LDS
  InstructionMix mix;  // empty when nothing disassembled it
};

struct StaticProfile {
  std::string member;  // of a bundle, else empty
  TargetId target;
  std::string format;
  std::vector<KernelProfile> kernels;
  std::string no_disassembly;  // why there is none; empty when there is
};

/// Every code object in a file. `disassembler`: what to read instructions with, nullptr for none.
Result<std::vector<StaticProfile>> static_profiles(std::string_view file, const Disassembler* disassembler);

nlohmann::json to_json(const StaticProfile&);

}  // namespace ako
