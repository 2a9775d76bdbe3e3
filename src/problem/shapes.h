// SPDX-License-Identifier: Apache-2.0
// What can only be judged on a problem's shapes.
#pragma once

#include "problem/document.h"
#include "problem/problem.h"

namespace ako {

/// Where tensors and shapes stand in the file, so that mistakes that show on a shape point there.
struct Places {
  std::vector<Spot> shapes;  // by number
};

/// Extents and sizes, and the arguments of `values` against the tensors' types.
void check_shapes(const Problem&, const Places&, Diagnostics&);
/// That no subscript can leave its tensor and no integer division meets zero.
void check_bounds(const Problem&, Diagnostics&);
/// The dims of one shape from "KEY VALUE" pairs; reports unknown, missing and senseless ones.
void bind_dims(const Problem&, const std::vector<Document::Entry>&, const Spot&, Shape&, Diagnostics&);
/// Labels for shapes without one; marks core and representative shapes where the file marks none.
void finish_shapes(Problem&);

}  // namespace ako
