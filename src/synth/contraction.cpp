// SPDX-License-Identifier: Apache-2.0
#include "synth/contraction.h"

namespace ako::synth {

std::optional<Contraction> match_contraction(const Program&, const Layout&, const Group&) {
  return std::nullopt;
}
bool can_pair(const Program&, const Contraction&) { return false; }
void emit_contraction(const Contraction&, Printer&, Code&, std::vector<Workspace>&) {}

}  // namespace ako::synth
