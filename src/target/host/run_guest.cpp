// SPDX-License-Identifier: Apache-2.0
// Theory of operation: docs/sandbox.md, "Run guests".
#include "target/host/run_guest.h"

#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "../../../guest/host_protocol.h"
#include "base/random.h"
#include "sandbox/filter.h"
#include "target/host/memory_file.h"
#include "target/host/run_guest_fault.h"
#include "target/host/run_guest_libraries.h"
#include "target/host/run_guest_plan.h"
#include "target/host/run_guest_spread.h"
#include "target/host/run_guest_usage.h"

namespace ako::host {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kAddressDraws = 8;
constexpr std::uint64_t kWithdrawnPart = 4;  // one slot in four

/// Appends pieces after the header of the orders' file.
class OrdersWriter {
 public:
  explicit OrdersWriter(std::span<std::byte> file) : file_(file) {}
  guest::Piece put(const void* data, std::size_t bytes) {
    guest::Piece piece{static_cast<std::uint32_t>(next_), static_cast<std::uint32_t>(bytes)};
    if (bytes > left()) return {};
    std::memcpy(file_.data() + next_, data, bytes);
    next_ = (next_ + bytes + 7) / 8 * 8;
    return piece;
  }
  guest::Piece put(const FilterProgram& program) {
    return put(program.data(), program.size() * sizeof(sock_filter));
  }
  guest::Piece put(const std::string& text) {
    return text.empty() ? guest::Piece{} : put(text.c_str(), text.size() + 1);
  }
  std::size_t left() const { return next_ > file_.size() ? 0 : file_.size() - next_; }
  guest::Piece rest() const {
    return {static_cast<std::uint32_t>(next_), static_cast<std::uint32_t>(left())};
  }

 private:
  std::span<std::byte> file_;
  std::size_t next_ = (sizeof(guest::Orders) + 63) / 64 * 64;
};

/// What is loaded: nothing at all is ako's own empty kernel.
struct Load {
  std::filesystem::path library;
  std::vector<std::string> symbols;
};

Result<void> send_files(int channel, std::uint64_t plan_bytes, std::span<const int> files) {
  iovec part{&plan_bytes, sizeof plan_bytes};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * guest::kMostFiles)] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = CMSG_SPACE(files.size_bytes());
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(files.size_bytes());
  std::memcpy(CMSG_DATA(header), files.data(), files.size_bytes());
  if (::sendmsg(channel, &message, MSG_NOSIGNAL) < 0)
    return fail(ErrorKind::unavailable,
                fmt::format("cannot pass buffers to a guest: {}", std::strerror(errno)));
  return {};
}

Result<MemoryFile> file_of(const std::vector<std::byte>& bytes) {
  AKO_TRY(MemoryFile file, MemoryFile::create("ako plan", {static_cast<std::int64_t>(bytes.size())}));
  std::memcpy(file.bytes().data(), bytes.data(), bytes.size());
  AKO_CHECK(file.seal_against_writing());
  return file;
}

Result<void> check_hash(const Artifact& artifact) {
  AKO_TRY(std::string code, read_file(artifact.code));
  if (hash_text(code) == artifact.code_hash) return {};
  return fail(ErrorKind::corrupt, fmt::format("{} is not what was compiled", artifact.code.string()),
              "remove it and compile again");
}

int threads_of(const GuestOptions& options) {
  return options.threads > 0 ? options.threads
                             : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

Policy policy_for(const GuestOptions& options, const Load& load) {
  Policy policy;
  policy.filter = Filter::compute;
  policy.readable = runtime_libraries();
  if (!load.library.empty()) policy.readable.push_back(load.library);
  policy.memory = options.memory;
  policy.processes = 64 + 2 * threads_of(options);
  policy.cpu_limit = Seconds(0);  // many batches, each with a limit of its own
  // libgomp's waiting threads spin for several milliseconds by default and lose whole time slices when
  // something else runs (8 ms for a parallel loop of 47 us). A millisecond bridges the gap between two
  // launches as well and loses less (1.1 ms); much shorter, and threads sleep between launches and pay for
  // waking.
  policy.environment = {{"OMP_NUM_THREADS", std::to_string(threads_of(options))},
                        {"OMP_DYNAMIC", "false"},
                        {"GOMP_SPINCOUNT", "20000"},
                        {"LC_ALL", "C"}};
  for (const auto& file : options.preload.files) policy.readable.push_back(file);
  for (const auto& [name, value] : options.preload.environment) policy.environment[name] = value;
  if (!options.preload.files.empty()) policy.environment["LD_PRELOAD"] = options.preload.files.front();
  return policy;
}

}  // namespace

struct RunGuest::State {
  GuestOptions options;
  std::set<int> bound;       // threads that have a processor of their own
  bool withdrawing = false;  // the latest run's buffers go when its launches return
  std::vector<std::string> symbols;
  MemoryFile orders_file, notes_file;
  guest::Piece slots_room;
  Descriptor channel;
  std::optional<ConfinedProcess> process;
  Random random{secret_seed()};
  AttachPlan plan;

  guest::Orders& orders() { return *reinterpret_cast<guest::Orders*>(orders_file.bytes().data()); }
  guest::Notes& notes() { return *reinterpret_cast<guest::Notes*>(notes_file.bytes().data()); }

  Result<void> prepare_orders(const Load&);
  Result<void> start_process(const Load&);
  Result<std::optional<GuestFault>> attach_once(std::span<const BufferMemory* const>,
                                                std::span<const GuestLaunch>, bool& address_taken);

  struct Interruption {
    std::chrono::nanoseconds after{0};
    std::function<void()> meanwhile;
  };
  Result<BatchResult> run(std::span<const int> slots, bool withdraw, const Interruption* = nullptr);
  /// Lets the guest carry out one order. Afterwards it is frozen, or gone and this says why.
  std::optional<GuestFault> command(guest::Order, const Interruption* = nullptr);
  void interrupt(std::uint32_t sequence, const Interruption&);
  bool await(std::uint32_t sequence, Clock::time_point deadline);
  GuestFault last_fault(bool timed_out);
  std::string message();
};

Result<void> RunGuest::State::prepare_orders(const Load& load) {
  AKO_TRY(orders_file, MemoryFile::create("ako orders", {guest::kOrdersBytes}));
  AKO_TRY(notes_file, MemoryFile::create("ako notes", {guest::kNotesBytes}));
  AKO_CHECK(orders_file.seal_against_writing());
  OrdersWriter writer(orders_file.bytes());
  guest::Orders& to = orders();
  to.version = guest::kProtocolVersion;
  to.memory_limit = static_cast<std::uint64_t>(options.memory.count);
  if (confinement().seccomp) {
    FilterDescriptors descriptors{guest::kChannelDescriptor, guest::kFirstOwnDescriptor};
    AKO_TRY(FilterProgram while_loading, filter_program(FilterStage::load, descriptors));
    AKO_TRY(FilterProgram while_running, filter_program(FilterStage::run, descriptors));
    to.load_filter = writer.put(while_loading);
    to.run_filter = writer.put(while_running);
  }
  to.library = writer.put(load.library.string());
  std::string names;
  for (const std::string& symbol : load.symbols) names += symbol + '\0';
  to.symbols = writer.put(names);
  to.symbol_count = static_cast<std::uint32_t>(load.symbols.size());
  slots_room = writer.rest();
  return {};
}

Result<void> RunGuest::State::start_process(const Load& load) {
  symbols = load.symbols;
  AKO_TRY(auto program, find_resource("ako-guest-host"));
  AKO_CHECK(prepare_orders(load));
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(ErrorKind::unavailable, fmt::format("cannot make a socket pair: {}", std::strerror(errno)));
  channel = Descriptor(ends[0]);
  Descriptor theirs(ends[1]);
  Command command;
  command.argv = {program.string()};
  AKO_TRY(process, ConfinedProcess::start(command, policy_for(options, load),
                                          {orders_file.descriptor(), notes_file.descriptor(), theirs.get()}));
  return {};
}

/// The guest must be frozen, or on its way to its first order. Its clock is ours: it runs from before the
/// moment that the first of its threads may run to after the moment that the last one has stopped.
std::optional<GuestFault> RunGuest::State::command(guest::Order order, const Interruption* interruption) {
  orders().order = order;
  std::uint32_t sequence = orders().sequence.load(std::memory_order_relaxed) + 1;
  auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(options.batch_limit);
  orders().sequence.store(sequence, std::memory_order_release);
  process->thaw();                  // an interrupted wait looks at the sequence again by itself
  if (order == guest::Order::load)  // the only one for which the guest was not stopped
    ::syscall(SYS_futex, &orders().sequence, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  if (interruption) interrupt(sequence, *interruption);
  bool in_time = await(sequence, deadline);
  if (in_time && process->freeze()) return std::nullopt;
  return last_fault(!in_time && !process->ended());
}

void RunGuest::State::interrupt(std::uint32_t sequence, const Interruption& interruption) {
  std::this_thread::sleep_for(interruption.after);
  if (!process->freeze()) return;  // it has ended, as await will see
  if (notes().done.load(std::memory_order_acquire) != sequence) interruption.meanwhile();
  process->thaw();
}

/// False when the guest has ended or the time is over. Its death is noticed within a slice.
bool RunGuest::State::await(std::uint32_t sequence, Clock::time_point deadline) {
  constexpr auto slice = std::chrono::milliseconds(10);
  std::atomic<std::uint32_t>& done = notes().done;
  for (;;) {
    std::uint32_t now = done.load(std::memory_order_acquire);
    if (now == sequence) return true;
    auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(deadline - Clock::now());
    if (left.count() <= 0 || process->ended()) return false;
    auto wait = std::min<std::chrono::nanoseconds>(left, slice);
    timespec time{0, static_cast<long>(wait.count())};
    ::syscall(SYS_futex, &done, FUTEX_WAIT, now, &time, nullptr, 0);
  }
}

GuestFault RunGuest::State::last_fault(bool timed_out) {
  GuestFault fault;
  if (timed_out) {
    fault.kind = GuestFault::Kind::timed_out;
    fault.reason = fmt::format("did not end within {}", to_text(Microseconds(options.batch_limit)));
    fault.errors = process->errors();
  } else if (auto exit = process->ended()) {
    LastWords last{
        notes().sighting, notes().memory_short != 0, plan.regions, plan.begin, plan.end, options.memory,
        withdrawing};
    fault = explain_end(*exit, last);
  }
  process.reset();
  return fault;
}

/// What the guest says; it may say anything.
std::string RunGuest::State::message() {
  const char* text = notes().message;
  std::string said(text, ::strnlen(text, sizeof notes().message));
  for (char& c : said)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  return said;
}

RunGuest::RunGuest(std::unique_ptr<State> state) : state_(std::move(state)) {}
RunGuest::RunGuest(RunGuest&&) noexcept = default;
RunGuest& RunGuest::operator=(RunGuest&&) noexcept = default;
RunGuest::~RunGuest() = default;

Result<std::variant<RunGuest, GuestFault>> RunGuest::start(const Artifact& artifact,
                                                           const GuestOptions& options) {
  AKO_CHECK(check_hash(artifact));
  auto state = std::make_unique<State>();
  state->options = options;
  AKO_CHECK(state->start_process({artifact.code, artifact.symbols}));
  if (auto fault = state->command(guest::Order::load)) return *fault;
  switch (state->notes().answer) {
    case guest::Answer::ok:
      return RunGuest(std::move(state));
    case guest::Answer::cannot_load:
      return GuestFault{GuestFault::Kind::crashed, 0, "cannot be loaded: " + state->message(),
                        state->process->errors()};
    case guest::Answer::missing_symbol:
      return GuestFault{GuestFault::Kind::crashed, 0,
                        fmt::format("has no function {} with C linkage", state->message()),
                        state->process->errors()};
    default:
      return fail(ErrorKind::unavailable, "a run guest could not start: " + state->message());
  }
}

Result<RunGuest> RunGuest::start_empty(const GuestOptions& options) {
  auto state = std::make_unique<State>();
  state->options = options;
  AKO_CHECK(state->start_process({{}, {guest::kEmptyKernel}}));
  if (auto fault = state->command(guest::Order::load))
    return fail(ErrorKind::unavailable, "an empty run guest could not start: " + fault->reason);
  if (state->notes().answer != guest::Answer::ok)
    return fail(ErrorKind::unavailable, "an empty run guest could not start: " + state->message());
  RunGuest empty(std::move(state));
  const GuestLaunch launch{guest::kEmptyKernel, {}};
  AKO_TRY(auto attached, empty.attach({}, {&launch, 1}));
  if (auto* fault = std::get_if<GuestFault>(&attached)) return fail(ErrorKind::unavailable, fault->reason);
  return empty;
}

Result<std::optional<GuestFault>> RunGuest::State::attach_once(std::span<const BufferMemory* const> groups,
                                                               std::span<const GuestLaunch> launches,
                                                               bool& address_taken) {
  AKO_TRY(plan, plan_attach(groups, launches, symbols, random));
  AKO_TRY(MemoryFile file, file_of(plan.bytes));
  std::vector<int> files{file.descriptor()};
  files.insert(files.end(), plan.files.begin(), plan.files.end());
  AKO_CHECK(send_files(channel.get(), plan.bytes.size(), files));
  if (auto fault = command(guest::Order::attach)) return fault;
  address_taken = notes().answer == guest::Answer::address_taken;
  if (notes().answer == guest::Answer::ok || address_taken) return std::nullopt;
  return fail(ErrorKind::unavailable, "a run guest could not map its buffers: " + message());
}

Result<std::variant<std::monostate, GuestFault>> RunGuest::attach(std::span<SharedBuffers* const> groups,
                                                                  std::span<const GuestLaunch> launches) {
  if (!alive()) return fail(ErrorKind::internal, "the run guest has ended");
  std::vector<const BufferMemory*> memory;
  for (const SharedBuffers* group : groups) memory.push_back(group->state_.get());
  for (int draw = 0; draw < kAddressDraws; ++draw) {
    bool address_taken = false;
    AKO_TRY(auto fault, state_->attach_once(memory, launches, address_taken));
    if (fault) return *fault;
    if (!address_taken) return std::monostate{};
  }
  return fail(ErrorKind::unavailable, "a run guest has no room for its buffers", "use fewer slots");
}

Result<BatchResult> RunGuest::State::run(std::span<const int> slots, bool withdraw,
                                         const Interruption* interruption) {
  for (int slot : slots)
    if (slot < 0 || slot >= plan.slots)
      return fail(ErrorKind::internal, fmt::format("slot {} of {} does not exist", slot, plan.slots));
  if (slots.size_bytes() > slots_room.bytes)
    return fail(ErrorKind::limit, fmt::format("{} launches are too many for one batch", slots.size()));
  orders().slots = slots_room;
  orders().slot_count = static_cast<std::uint32_t>(slots.size());
  withdrawing = withdraw;
  auto* listed = reinterpret_cast<std::int32_t*>(orders_file.bytes().data() + slots_room.offset);
  std::ranges::copy(slots, listed);
  // A part, and a secret one: taking buffers away takes a microsecond, which a kernel could notice and heed.
  for (std::size_t i = 0; withdraw && i < slots.size(); ++i)
    if (random.below(kWithdrawnPart) == 0 || slots.size() == 1) listed[i] = ~listed[i];

  int pid = process->pid();
  Usage before = usage_of(pid);
  auto released = Clock::now();
  if (auto fault = command(guest::Order::run, interruption)) return *fault;
  auto stopped = Clock::now();
  Usage after = usage_of(pid);
  spread_threads(pid, bound);  // for the next batch: threads come into being in the first
  BatchTime time;
  time.wall = stopped - released;
  time.cpu_seconds = after.cpu_seconds - before.cpu_seconds;
  time.steal_seconds = after.steal_seconds - before.steal_seconds;
  time.major_faults = after.major_faults - before.major_faults;
  time.minor_faults = after.minor_faults - before.minor_faults;
  time.involuntary_switches = after.involuntary_switches - before.involuntary_switches;
  return time;
}

Result<BatchResult> RunGuest::run(std::span<const int> slots) {
  if (!alive()) return fail(ErrorKind::internal, "the run guest has ended");
  return state_->run(slots, false);
}

Result<BatchResult> RunGuest::run_withdrawing(std::span<const int> slots) {
  if (!alive()) return fail(ErrorKind::internal, "the run guest has ended");
  return state_->run(slots, true);
}

Result<BatchResult> RunGuest::run_interrupted(std::span<const int> slots, std::chrono::nanoseconds after,
                                              const std::function<void()>& meanwhile) {
  if (!alive()) return fail(ErrorKind::internal, "the run guest has ended");
  State::Interruption interruption{after, meanwhile};
  return state_->run(slots, false, &interruption);
}

bool RunGuest::alive() const { return state_ && state_->process && !state_->process->ended(); }

Trust RunGuest::trust() const { return confinement().full() ? Trust::isolated : Trust::unconfined; }

}  // namespace ako::host
