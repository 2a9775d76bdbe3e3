// SPDX-License-Identifier: Apache-2.0
// Expected values for a device judge, in fp64. Small cases are evaluated on the host; large ones by `ako
// reference`, a process with a device context of its own, so that no answer ever stands in memory that a
// candidate can address. The two processes share one piece of host memory, which holds values and nothing
// else.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/subprocess.h"
#include "judge/device_stage.h"
#include "problem/reference.h"

namespace ako {

/// Host memory that another process of this user can map by its name.
class SharedValues {
 public:
  static Result<SharedValues> create(Bytes);
  /// What a name of create()'s stands for, in another process.
  static Result<SharedValues> open(const std::string& name, Bytes);
  SharedValues(SharedValues&&) noexcept;
  SharedValues& operator=(SharedValues&&) noexcept;
  ~SharedValues();
  std::string name() const;
  std::span<std::byte> bytes() const { return {memory_, size_}; }

 private:
  SharedValues(Descriptor file, std::byte* memory, std::size_t size)
      : file_(std::move(file)), memory_(memory), size_(size) {}
  Descriptor file_;
  std::byte* memory_ = nullptr;
  std::size_t size_ = 0;
};

/// One fp64 array per output and inout, valid until the next question.
using ExpectedValues = std::vector<std::span<const double>>;

class DeviceReference {
 public:
  /// `command`: starts the reference process; empty: everything is evaluated on the host.
  explicit DeviceReference(std::vector<std::string> command) : command_(std::move(command)) {}

  /// Starts the process, if there is one to start, without waiting for it.
  void warm_up();
  Result<ExpectedValues> expected(const Problem&, const Shape&, const InputsWanted&);
  /// Lets the process begin with what expected() will be asked for next, while the caller does something
  /// else. The device then serves two: not for when times are taken.
  void ask_ahead(const Problem&, const Shape&, const InputsWanted&);
  /// Where the latest values came from: "host" or "device".
  const std::string& origin() const { return origin_; }
  /// Whether the process works for this problem (unknown until it was asked: true).
  bool on_device(const Problem&) const;

 private:
  Result<ExpectedValues> on_host(const Problem&, const Shape&, const InputsWanted&);
  Result<ExpectedValues> by_process(const Problem&, const Shape&, const InputsWanted&);
  /// Sends the question unless it is the one that has been asked already.
  Result<void> ask(const Problem&, const Shape&, const InputsWanted&);

  std::vector<std::string> command_;
  std::optional<LineProcess> process_;
  std::optional<SharedValues> shared_;
  std::string asked_;  // the question that the process is at; empty: none
  std::map<Hash, std::shared_ptr<Reference>> references_;
  std::map<Hash, std::string> unable_;  // problem → why the process cannot
  std::vector<std::vector<double>> values_;
  std::string origin_;
};

}  // namespace ako
