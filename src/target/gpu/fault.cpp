// SPDX-License-Identifier: Apache-2.0
#include "target/gpu/fault.h"

#include <fmt/format.h>

namespace ako::gpu {

std::string_view name_of(Fault::Kind kind) {
  constexpr std::string_view names[] = {
      "illegal address", "misaligned access", "trap",    "assertion", "launch refused", "out of memory",
      "wrong code",      "no such kernel",    "endless", "device",    "driver"};
  return names[static_cast<std::size_t>(kind)];
}

Error to_error(const Fault& fault) {
  auto kind = fault.kind == Fault::Kind::out_of_memory ? ErrorKind::limit
              : fault.kind == Fault::Kind::wrong_code  ? ErrorKind::unsupported
                                                       : ErrorKind::unavailable;
  return {kind, fault.reason, "'ako doctor' says what it finds of this machine's GPUs"};
}

Fault::Kind kind_of_status(int status) {
  switch (status) {
    case 2:  // OUT_OF_MEMORY
      return Fault::Kind::out_of_memory;
    case 1:    // INVALID_VALUE
    case 9:    // hipErrorInvalidConfiguration
    case 701:  // LAUNCH_OUT_OF_RESOURCES
    case 912:  // INVALID_CLUSTER_SIZE
      return Fault::Kind::refused;
    case 98:   // hipErrorInvalidDeviceFunction
    case 200:  // INVALID_IMAGE
    case 209:  // NO_BINARY_FOR_GPU
    case 218:  // INVALID_PTX
    case 221:  // JIT_COMPILER_NOT_FOUND
    case 222:  // UNSUPPORTED_PTX_VERSION
    case 300:  // INVALID_SOURCE
      return Fault::Kind::wrong_code;
    case 500:  // NOT_FOUND
      return Fault::Kind::no_such_kernel;
    case 700:  // ILLEGAL_ADDRESS
    case 717:  // INVALID_ADDRESS_SPACE
      return Fault::Kind::illegal_address;
    case 716:  // MISALIGNED_ADDRESS
      return Fault::Kind::misaligned;
    case 702:  // LAUNCH_TIMEOUT
      return Fault::Kind::endless;
    case 710:  // ASSERT
      return Fault::Kind::assertion;
    case 714:  // HARDWARE_STACK_ERROR
    case 715:  // ILLEGAL_INSTRUCTION
    case 718:  // INVALID_PC
    case 719:  // LAUNCH_FAILED
      return Fault::Kind::trap;
    case 46:   // DEVICE_UNAVAILABLE
    case 214:  // ECC_UNCORRECTABLE
    case 220:  // NVLINK_UNCORRECTABLE
      return Fault::Kind::device;
    default:
      return Fault::Kind::other;
  }
}

bool loses_context(int status) {
  // 701 and the refusals leave the context usable; everything a running kernel did wrong does not.
  return status == 46 || status == 214 || status == 220 || status == 226 || status == 700 || status == 702 ||
         status == 709 || status == 710 || (status >= 714 && status <= 719) || status == 999;
}

}  // namespace ako::gpu
