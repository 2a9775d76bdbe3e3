// SPDX-License-Identifier: Apache-2.0
// What a driver says when a call, a launch or a wait did not go well.
#pragma once

#include <expected>
#include <string>

#include "base/error.h"

namespace ako::gpu {

struct Fault {
  enum class Kind : std::uint8_t {
    illegal_address,  // read or wrote what is not mapped
    misaligned,       // an access that its type does not allow
    trap,             // illegal instruction, trap, stack or program counter gone astray
    assertion,        // a device-side assert
    refused,          // the launch itself: grid, block, shared memory or registers beyond the device's
    out_of_memory,    // of the device
    wrong_code,       // a code object for another architecture, or none at all
    no_such_kernel,   // the code object has no kernel of this name
    endless,          // still running when the time was up
    device,           // ECC, NVLink, a device that fell off the bus
    other,
  };
  Kind kind = Kind::other;
  std::string reason;         // "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered"
  bool context_lost = false;  // nothing more works in this process: it has to be replaced
};
std::string_view name_of(Fault::Kind);

template <class T>
using Driven = std::expected<T, Fault>;

/// For callers to whom every fault is infrastructure.
Error to_error(const Fault&);

/// The meaning of a status code. CUresult and hipError_t share their numbers for everything named here
/// (hip_runtime_api.h numbers them "for compatibility with CUDA").
Fault::Kind kind_of_status(int status);
/// Statuses that poison the context they occur in.
bool loses_context(int status);

}  // namespace ako::gpu

/// AKO_DRIVEN(auto x, f()): x is f()'s value, or the enclosing function returns f()'s fault.
#define AKO_DRIVEN(declaration, expression) AKO_TRY(declaration, expression)
/// AKO_RESULT(auto x, f()): as AKO_DRIVEN in a function that returns a Result.
#define AKO_RESULT(declaration, expression) \
  AKO_RESULT_(AKO_CONCAT(ako_result_, __LINE__), declaration, expression)
#define AKO_RESULT_(temporary, declaration, expression)                            \
  auto temporary = (expression);                                                   \
  if (!temporary) return std::unexpected(::ako::gpu::to_error(temporary.error())); \
  declaration = std::move(*temporary)
#define AKO_CHECK_RESULT(expression)                                    \
  do {                                                                  \
    if (auto ako_check_ = (expression); !ako_check_)                    \
      return std::unexpected(::ako::gpu::to_error(ako_check_.error())); \
  } while (false)
