// SPDX-License-Identifier: Apache-2.0
// OpenBLAS: matrix products and matrix-vector products of f32 and f64, any operand transposed, several of
// them as a loop of calls.
#pragma once

#include "judge/library.h"

namespace ako {

class OpenBlas : public BaselineLibrary {
 public:
  std::string_view name() const override { return "openblas"; }
  std::string_view title() const override { return "OpenBLAS"; }
  Result<Candidate> kernel(const Problem&) const override;
  Result<LibraryInstallation> find(int threads) const override;
};

}  // namespace ako
