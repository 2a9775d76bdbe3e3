// SPDX-License-Identifier: Apache-2.0
// A candidate taken out of ako: its sources, a C header for one function that runs its launches in order, and
// a test with inputs and fp64 expectations, ready to drop into another project.
#pragma once

#include <string>
#include <vector>

#include "kernel/candidate.h"

namespace ako {

struct ExportFile {
  std::string path;  // relative
  std::string content;
};

struct ExportOptions {
  std::string origin;      // "round 7 of campaign …", a file's path: said in the header
  std::uint64_t seed = 1;  // of the test's inputs
};

/// The files, the test's data for `shape` among them. Errors: a language other than C++, a problem without a
/// usable reference, test data beyond 256 MiB.
Result<std::vector<ExportFile>> export_candidate(const Candidate&, const Problem&, const Shape& shape,
                                                 const ExportOptions&);
/// The shape that a test is best made for: the one whose tensors take the least memory among those with some
/// hundreds of elements, so that vectors and their remainders are reached; else the largest.
const Shape& shape_to_test(const Problem&);

}  // namespace ako
