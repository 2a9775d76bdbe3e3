// SPDX-License-Identifier: Apache-2.0
// The one way to start a trusted process (compilers in guests go through sandbox/, which builds on this).
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/units.h"

namespace ako {

struct Command {
  std::vector<std::string> argv;  // argv[0] is looked up in PATH unless it has a slash
  std::filesystem::path folder;   // working folder, empty: ours
  std::optional<std::map<std::string, std::string>> environment;  // nullopt: ours
  std::string input;  // written to its standard input, then closed
  Seconds wall_limit{60};
  Bytes output_limit = mebibytes(4);  // of each stream; what is more is dropped and noted
};

struct Exit {
  int code = 0;  // exit status; 128 + signal when signalled
  int signal = 0;
  bool timed_out = false;
  bool output_cut = false;
  std::string output, errors;
  Seconds wall{0}, cpu{0};
  bool ok() const { return code == 0 && signal == 0 && !timed_out; }
};

/// Runs to the end. Errors only when it could not be started at all.
Result<Exit> run(const Command&);

/// A child with which lines are exchanged on stdin and stdout. Killed (and reaped) on destruction. Its stderr
/// is ours unless `errors_to` is set. Not thread-safe.
class LineProcess {
 public:
  static Result<LineProcess> start(const Command&,
                                   std::optional<std::filesystem::path> errors_to = std::nullopt);
  LineProcess(LineProcess&&) noexcept;
  LineProcess& operator=(LineProcess&&) noexcept;
  ~LineProcess();

  Result<void> send(std::string_view line);   // without the newline
  Result<std::string> receive(Seconds wait);  // ErrorKind::limit on time-out, unavailable on end of file
  bool alive();
  int pid() const;
  /// Closes its stdin and waits; kills it after `grace`.
  Exit close(Seconds grace);

 private:
  struct State;
  explicit LineProcess(std::unique_ptr<State>);
  std::unique_ptr<State> state_;
};

std::optional<std::filesystem::path> find_program(std::string_view name);

}  // namespace ako
