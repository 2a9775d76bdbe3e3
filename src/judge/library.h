// SPDX-License-Identifier: Apache-2.0
// Baseline libraries: outside implementations timed for reference, beside a candidate in one sitting. A
// library's call is a candidate of ako's own, checked and timed like any other; its shared object is loaded
// in that one guest, so that no other candidate ever sees it.
//
// A library is one file and one line in library.cpp's table.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/candidate.h"
#include "target/host/run_guest.h"

namespace ako {

struct LibraryInstallation {
  std::string version;    // "OpenBLAS 0.3.21, 2 threads"
  host::Preload preload;  // what the guest needs
};

class BaselineLibrary {
 public:
  virtual ~BaselineLibrary() = default;
  virtual std::string_view name() const = 0;   // "openblas": what `--library` takes
  virtual std::string_view title() const = 0;  // "OpenBLAS"
  /// The problem as a call of the library. Error `unsupported`: it has none for this pattern.
  virtual Result<Candidate> kernel(const Problem&) const = 0;
  /// Error `unsupported`: it is not installed; the advice says what to install.
  virtual Result<LibraryInstallation> find(int threads) const = 0;
};

std::vector<std::unique_ptr<BaselineLibrary>> baseline_libraries();
/// Error `invalid_input` with the names there are.
Result<std::unique_ptr<BaselineLibrary>> choose_library(std::string_view name);
/// The first library that has a call for this problem and is installed. Error `unsupported`: why none is.
Result<std::unique_ptr<BaselineLibrary>> library_for(const Problem&);

}  // namespace ako
