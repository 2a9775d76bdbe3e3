// SPDX-License-Identifier: Apache-2.0
// Values that results do not depend on although the math reads them: the maximum that a softmax subtracts
// cancels in its quotient. A gradient need not pass through them.
#pragma once

#include "problem/problem.h"

namespace ako {

/// Whether adding any number to an element of a tensor of reals leaves every output as it is, in exact
/// arithmetic. False where it cannot be shown.
bool outputs_ignore(const Problem&, TensorId);

}  // namespace ako
