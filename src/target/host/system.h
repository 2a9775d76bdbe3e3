// SPDX-License-Identifier: Apache-2.0
// What the processor and the kernel say about this machine. File roots are parameters for tests.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "target/facts.h"

namespace ako::host {

/// The processor's own name for itself (CPUID 0x80000002…4), spaces trimmed.
std::string processor_name();
/// Whether a hypervisor runs this machine (CPUID 1, ECX bit 31).
bool is_virtual();
/// Instruction-set extensions that both processor and kernel support, in Linux's spelling.
std::vector<std::string> processor_features();
/// Data and unified caches of processor 0; empty when sysfs has none.
std::vector<CacheLevel> data_caches(const std::filesystem::path& sys = "/sys");
/// Processors this process may use at once: its affinity, cut by the quota of its control group and of those
/// above.
int usable_cores(const std::filesystem::path& root = "/");
/// Memory that can be taken without swapping, within the control group's limit; 0 when unknown.
Bytes available_memory(const std::filesystem::path& root = "/");

}  // namespace ako::host
