// SPDX-License-Identifier: Apache-2.0
#include "judge/device_reference.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "judge/check.h"
#include "judge/json_fields.h"

namespace ako {
namespace {

using nlohmann::json;

// Reference operations below which the host answers sooner than a question gets to the other process and
// back.
constexpr double kHostWork = 4e7;
constexpr Seconds kAnswerWait{120};

/// Offsets of the outputs' values, and the size of all.
std::vector<std::pair<std::size_t, std::size_t>> value_ranges(const Problem& problem, const Shape& shape) {
  std::vector<std::pair<std::size_t, std::size_t>> ranges;
  std::size_t at = 0;
  for (TensorId id : kernel_tensors(problem)) {
    if (problem.tensor(id).role == TensorRole::input) continue;
    auto count = static_cast<std::size_t>(element_count(problem, problem.tensor(id), shape));
    ranges.emplace_back(at, count);
    at += count;
  }
  return ranges;
}

Result<std::byte*> map(int file, std::size_t size) {
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED)
    return fail(ErrorKind::io, fmt::format("cannot map {} bytes of shared memory", size),
                "free memory, try again");
  return static_cast<std::byte*>(memory);
}

}  // namespace

Result<SharedValues> SharedValues::create(Bytes size) {
  Descriptor file(::memfd_create("ako-expected", MFD_CLOEXEC));
  auto bytes = static_cast<std::size_t>(std::max<std::int64_t>(size.count, 8));
  if (!file || ::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0)
    return fail(ErrorKind::io, fmt::format("cannot make {} bytes of shared memory", bytes),
                "free memory, try again");
  AKO_TRY(auto* memory, map(file.get(), bytes));
  return SharedValues(std::move(file), memory, bytes);
}

Result<SharedValues> SharedValues::open(const std::string& name, Bytes size) {
  Descriptor file(::open(name.c_str(), O_RDWR | O_CLOEXEC));
  if (!file) return fail(ErrorKind::io, "cannot open the shared memory " + name);
  AKO_TRY(auto* memory, map(file.get(), static_cast<std::size_t>(size.count)));
  return SharedValues(std::move(file), memory, static_cast<std::size_t>(size.count));
}

SharedValues::SharedValues(SharedValues&& other) noexcept
    : file_(std::move(other.file_)), memory_(std::exchange(other.memory_, nullptr)), size_(other.size_) {}
SharedValues& SharedValues::operator=(SharedValues&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(memory_, other.memory_);
  std::swap(size_, other.size_);
  return *this;
}
SharedValues::~SharedValues() {
  if (memory_) ::munmap(memory_, size_);
}
std::string SharedValues::name() const { return fmt::format("/proc/{}/fd/{}", ::getpid(), file_.get()); }

void DeviceReference::warm_up() {
  if (command_.empty() || process_) return;
  Command command;
  command.argv = command_;
  if (auto started = LineProcess::start(command)) process_.emplace(std::move(*started));
}

bool DeviceReference::on_device(const Problem& problem) const {
  return !command_.empty() && !unable_.contains(problem.id);
}

Result<ExpectedValues> DeviceReference::expected(const Problem& problem, const Shape& shape,
                                                 const InputsWanted& wanted) {
  if (on_device(problem) && reference_work(problem, shape) > kHostWork) {
    auto values = by_process(problem, shape, wanted);
    if (values) return values;
    unable_.emplace(problem.id, values.error().what);
    if (values.error().kind != ErrorKind::unsupported) process_.reset();
  }
  return on_host(problem, shape, wanted);
}

Result<ExpectedValues> DeviceReference::on_host(const Problem& problem, const Shape& shape,
                                                const InputsWanted& wanted) {
  auto& reference = references_[problem.id];
  if (!reference) {
    AKO_TRY(auto loaded, Reference::load(problem));
    reference = std::make_shared<Reference>(std::move(loaded));
  }
  std::vector<std::vector<std::byte>> inputs;
  for (TensorId id : kernel_tensors(problem)) {
    const Tensor& tensor = problem.tensor(id);
    if (tensor.role == TensorRole::output) continue;
    auto size = storage_bytes(tensor.type, element_count(problem, tensor, shape));
    auto& bytes = inputs.emplace_back(static_cast<std::size_t>(size.count));
    generate_input(problem, id, shape, wanted.style, wanted.seed, wanted.stream, bytes);
  }
  std::vector<std::span<const std::byte>> views(inputs.begin(), inputs.end());
  AKO_TRY(values_, reference->evaluate(shape, views));
  origin_ = "host";
  return ExpectedValues(values_.begin(), values_.end());
}

void DeviceReference::ask_ahead(const Problem& problem, const Shape& shape, const InputsWanted& wanted) {
  if (!on_device(problem) || reference_work(problem, shape) <= kHostWork) return;
  // What goes wrong now goes wrong again in expected(), which says so.
  if (auto asked = ask(problem, shape, wanted); !asked) process_.reset(), asked_.clear();
}

Result<void> DeviceReference::ask(const Problem& problem, const Shape& shape, const InputsWanted& wanted) {
  std::size_t doubles = 0;
  for (auto [at, count] : value_ranges(problem, shape)) doubles = at + count;
  const bool fits = shared_ && shared_->bytes().size() >= 8 * doubles;
  json question = {{"problem", problem.source}, {"path", problem.path.string()},
                   {"dims", shape.dims},        {"style", static_cast<int>(wanted.style)},
                   {"seed", wanted.seed},       {"stream", wanted.stream}};
  const std::string text = question.dump(-1, ' ', false, json::error_handler_t::replace);
  if (fits && text == asked_) return {};
  // A question that nobody wants answered any more: its answer would be taken for this one's.
  if (!std::exchange(asked_, {}).empty() && process_)
    if (auto stale = process_->receive(kAnswerWait); !stale) process_.reset();
  if (!fits) {
    shared_.reset();
    AKO_TRY(shared_, SharedValues::create({static_cast<std::int64_t>(8 * doubles)}));
  }
  if (process_ && !process_->alive()) process_.reset();
  warm_up();
  if (!process_) return fail(ErrorKind::unavailable, "the reference process does not start");
  question["memory"] = shared_->name();
  question["bytes"] = shared_->bytes().size();
  AKO_CHECK(process_->send(question.dump(-1, ' ', false, json::error_handler_t::replace)));
  asked_ = text;
  return {};
}

Result<ExpectedValues> DeviceReference::by_process(const Problem& problem, const Shape& shape,
                                                   const InputsWanted& wanted) {
  AKO_CHECK(ask(problem, shape, wanted));
  asked_.clear();
  AKO_TRY(auto line, process_->receive(kAnswerWait));
  json answer = json::parse(line, nullptr, false);
  if (!json_fields::truth(answer, "ok"))
    return fail(ErrorKind::unsupported,
                json_fields::text(answer, "error", "the reference process gave no answer"));
  const auto* values = reinterpret_cast<const double*>(shared_->bytes().data());
  ExpectedValues result;
  for (auto [at, count] : value_ranges(problem, shape)) result.emplace_back(values + at, count);
  origin_ = "device";
  return result;
}

}  // namespace ako
