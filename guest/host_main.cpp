// SPDX-License-Identifier: Apache-2.0
// The run guest: loads one candidate's shared object and calls its kernels when told. Runs on the untrusted
// side; the judge starts it confined, stops it whenever it reads or writes the shared buffers, and believes
// nothing it says (host_protocol.h). Uses the C library only.
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "host_protocol.h"

namespace {

using namespace ako::guest;
using Kernel = void (*)(void** arguments);

constexpr unsigned kMostSymbols = 256;

const Orders* orders;
Notes* notes;
Kernel kernels[kMostSymbols];

const char* piece(const Piece& of) { return reinterpret_cast<const char*>(orders) + of.offset; }

Answer answer(Answer what, const char* message = "") {
  snprintf(notes->message, sizeof notes->message, "%s", message);
  return what;
}

Answer failed(const char* call) {
  snprintf(notes->message, sizeof notes->message, "%s: %s", call, strerror(errno));
  return Answer::failed;
}

void empty_kernel(void**) {}

// ---- what went wrong, for the judge's explanation ----

/// An allocation that must succeed unless most of the limit is in use.
bool memory_is_short() {
  size_t probe = orders->memory_limit / 4;
  void* at = mmap(nullptr, probe, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at != MAP_FAILED) munmap(at, probe);
  return at == MAP_FAILED;
}

#if defined(__x86_64__)
void note_registers(const ucontext_t& context, Sighting& seen) {
  seen.instruction = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
  seen.stack = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RSP]);
  seen.writing =
      (context.uc_mcontext.gregs[REG_ERR] & 2) != 0;  // page-fault error code, bit 1 (SDM vol. 3, 4.7)
}
long system_call_argument(const ucontext_t& context, int which) {
  constexpr int registers[] = {REG_RDI, REG_RSI, REG_RDX};
  return static_cast<long>(context.uc_mcontext.gregs[registers[which]]);
}
void set_system_call_result(ucontext_t& context, long value) { context.uc_mcontext.gregs[REG_RAX] = value; }
#elif defined(__aarch64__)
void note_registers(const ucontext_t& context, Sighting& seen) {
  seen.instruction = context.uc_mcontext.pc;
  seen.stack = context.uc_mcontext.sp;
  seen.writing = 0;
}
long system_call_argument(const ucontext_t& context, int which) {
  return static_cast<long>(context.uc_mcontext.regs[which]);
}
void set_system_call_result(ucontext_t& context, long value) {
  context.uc_mcontext.regs[0] = static_cast<unsigned long long>(value);
}
#endif

/// glibc counts processors in these files (std::thread::hardware_concurrency) and does without when they are
/// missing.
bool is_processor_list(const char* path) {
  return strcmp(path, "/sys/devices/system/cpu/online") == 0 ||
         strcmp(path, "/sys/devices/system/cpu/possible") == 0 || strcmp(path, "/proc/stat") == 0 ||
         strcmp(path, "/sys/devices/system/cpu") == 0;
}

void on_fault(int signal, siginfo_t* info, void* context_pointer) {
  auto& context = *static_cast<ucontext_t*>(context_pointer);
  int call = signal == SIGSYS ? info->si_syscall : -1;
  if (call == SYS_openat &&
      is_processor_list(reinterpret_cast<const char*>(system_call_argument(context, 1)))) {
    set_system_call_result(context, -ENOENT);
    return;
  }
  Sighting& seen = notes->sighting;
  note_registers(context, seen);
  seen.code = info->si_code;
  seen.address = reinterpret_cast<uint64_t>(info->si_addr);
  seen.system_call = call;
  // abort() sends its signal by tgkill, which no kernel may call: told from other uses by what it sends.
  bool aborts = call == SYS_tgkill && system_call_argument(context, 2) == SIGABRT;
  if (aborts) signal = SIGABRT;
  seen.memory_short = (aborts || seen.address < 65536) && memory_is_short();
  seen.signal = static_cast<uint32_t>(signal);
  if (call >= 0) _exit(128 + signal);
  // Again, without a handler: the kernel ends us with the true signal.
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr);
}

alignas(64) char handler_stack[64 << 10];

void install_handlers() {
  stack_t stack{};
  stack.ss_sp = handler_stack;
  stack.ss_size = sizeof handler_stack;
  sigaltstack(&stack, nullptr);
  struct sigaction action{};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) sigaction(signal, &action, nullptr);
}

using NewHandler = void (*)();
NewHandler (*set_new_handler)(NewHandler);  // the candidate's C++ library's, if it has one

/// Called by operator new when there is no memory. Without a handler it throws next time.
void on_new_failure() {
  notes->memory_short = 1;
  set_new_handler(nullptr);
}

void watch_new_failures(void* library) {
  set_new_handler =
      reinterpret_cast<NewHandler (*)(NewHandler)>(dlsym(library, "_ZSt15set_new_handlerPFvvE"));
  if (set_new_handler) set_new_handler(on_new_failure);
}

// ---- orders ----

/// For every thread: constructors may have started some. Without the mitigation of speculative stores that
/// old kernels add to a filter, so that a kernel runs here as fast as elsewhere.
bool install_filter(const Piece& program) {
  if (program.bytes == 0) return true;
  auto* code = reinterpret_cast<sock_filter*>(const_cast<char*>(piece(program)));
  sock_fprog filter{static_cast<unsigned short>(program.bytes / sizeof(sock_filter)), code};
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                 SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW, &filter) == 0;
}

Answer load() {
  if (!install_filter(orders->load_filter)) return failed("seccomp");
  void* library = nullptr;
  if (orders->library.bytes > 0) {
    library = dlopen(piece(orders->library), RTLD_NOW | RTLD_LOCAL);
    if (!library) return answer(Answer::cannot_load, dlerror());
    watch_new_failures(library);
  }
  const char* name = piece(orders->symbols);
  for (unsigned i = 0; i < orders->symbol_count && i < kMostSymbols; ++i, name += strlen(name) + 1) {
    char wrapper[512];
    snprintf(wrapper, sizeof wrapper, "ako_call_%s", name);
    kernels[i] = library ? reinterpret_cast<Kernel>(dlsym(library, wrapper)) : empty_kernel;
    if (!kernels[i]) return answer(Answer::missing_symbol, name);
  }
  if (!install_filter(orders->run_filter)) return failed("seccomp");
  return Answer::ok;
}

// Everything an attach makes, so that the next one can take it away.
struct Attached {
  char* plan_memory = nullptr;
  size_t plan_bytes = 0;
  const Plan* plan = nullptr;
  const PlannedLaunch* launches = nullptr;
  void** arguments = nullptr;  // slot_count × values_per_slot pointers to cells
  size_t argument_bytes = 0;
} attached;

/// The length of the plan, and the descriptors that came with it. 0: nothing came.
size_t receive(int* files, unsigned& count) {
  uint64_t plan_bytes = 0;
  iovec part{&plan_bytes, sizeof plan_bytes};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMostFiles)];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (recvmsg(kChannelDescriptor, &message, MSG_CMSG_CLOEXEC) != sizeof plan_bytes) return 0;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (!header || header->cmsg_type != SCM_RIGHTS) return 0;
  count = static_cast<unsigned>((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
  memcpy(files, CMSG_DATA(header), count * sizeof(int));
  return plan_bytes;
}

void detach() {
  if (attached.plan)
    munmap(reinterpret_cast<void*>(attached.plan->reservation), attached.plan->reservation_bytes);
  if (attached.arguments) munmap(attached.arguments, attached.argument_bytes);
  if (attached.plan_memory) munmap(attached.plan_memory, attached.plan_bytes);
  attached = {};
}

Answer map_buffers(const Plan& plan, const int* files) {
  void* wanted = reinterpret_cast<void*>(plan.reservation);
  void* got = mmap(wanted, plan.reservation_bytes, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got != wanted) {
    if (got != MAP_FAILED) munmap(got, plan.reservation_bytes);
    return Answer::address_taken;
  }
  const auto* mappings = reinterpret_cast<const Mapping*>(&plan + 1);
  for (unsigned i = 0; i < plan.mapping_count; ++i) {
    const Mapping& mapping = mappings[i];
    void* at = reinterpret_cast<void*>(mapping.address);
    int protection = mapping.writable ? PROT_READ | PROT_WRITE : PROT_READ;
    auto map = [&](int flags) {
      return mmap(at, mapping.bytes, protection, MAP_SHARED | MAP_FIXED | flags, files[mapping.file],
                  static_cast<off_t>(mapping.offset)) != MAP_FAILED;
    };
    if (!map(0)) return failed("mmap");
    madvise(at, mapping.bytes, MADV_HUGEPAGE);  // a wish: many kernels have none for shared memory
    // No page fault may be left for the clock. Before Linux 5.14 only mmap itself could see to that.
    if (madvise(at, mapping.bytes, mapping.writable ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) != 0 &&
        !map(MAP_POPULATE))
      return failed("mmap");
  }
  return Answer::ok;
}

bool point_at_values(const Plan& plan) {
  const auto* mappings = reinterpret_cast<const Mapping*>(&plan + 1);
  attached.launches = reinterpret_cast<const PlannedLaunch*>(mappings + plan.mapping_count);
  auto* cells = reinterpret_cast<char*>(const_cast<PlannedLaunch*>(attached.launches + plan.launch_count));
  cells += -reinterpret_cast<uintptr_t>(cells) & (alignof(Value) - 1);
  size_t count = static_cast<size_t>(plan.slot_count) * plan.values_per_slot;
  attached.argument_bytes = (count + 1) * sizeof(void*);
  void* memory =
      mmap(nullptr, attached.argument_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return attached.arguments = nullptr, false;
  attached.arguments = static_cast<void**>(memory);
  for (size_t i = 0; i < count; ++i) attached.arguments[i] = cells + i * sizeof(Value);
  return true;
}

Answer attach() {
  int files[kMostFiles];
  unsigned count = 0;
  size_t bytes = receive(files, count);
  if (bytes == 0 || count == 0) return failed("recvmsg");
  detach();
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, files[0], 0);
  Answer result = memory == MAP_FAILED ? failed("mmap of the plan") : Answer::ok;
  if (result == Answer::ok) {
    attached.plan_memory = static_cast<char*>(memory);
    attached.plan_bytes = bytes;
    const auto& plan = *static_cast<const Plan*>(memory);
    result = map_buffers(plan, files);
    if (result != Answer::address_taken) attached.plan = &plan;
    if (result == Answer::ok && !point_at_values(plan)) result = failed("mmap of the arguments");
  }
  for (unsigned i = 0; i < count; ++i) close(files[i]);
  if (result != Answer::ok) detach();
  return result;
}

/// Whoever touches a slot after its launches have returned faults, whichever thread it is in.
void withdraw(unsigned slot) {
  const Plan& plan = *attached.plan;
  const auto* mappings = reinterpret_cast<const Mapping*>(&plan + 1);
  unsigned per_slot = plan.mapping_count / plan.slot_count;
  for (unsigned i = slot * per_slot; i < (slot + 1) * per_slot; ++i)
    munmap(reinterpret_cast<void*>(mappings[i].address), mappings[i].bytes);
}

Answer run() {
  if (!attached.plan) return answer(Answer::failed, "run before attach");
  const auto* slots = reinterpret_cast<const int32_t*>(piece(orders->slots));
  unsigned launch_count = attached.plan->launch_count;
  for (unsigned i = 0; i < orders->slot_count; ++i) {
    bool last_time = slots[i] < 0;
    auto slot = static_cast<unsigned>(last_time ? ~slots[i] : slots[i]);
    void** arguments = attached.arguments + size_t{slot} * attached.plan->values_per_slot;
    for (unsigned k = 0; k < launch_count; ++k) {
      const PlannedLaunch& launch = attached.launches[k];
      kernels[launch.symbol](arguments + launch.first_value);
    }
    if (last_time) withdraw(slot);
  }
  return Answer::ok;
}

Answer carry_out(Order order) {
  switch (order) {
    case Order::load:
      return load();
    case Order::attach:
      return attach();
    case Order::run:
      return run();
  }
  return answer(Answer::failed, "unknown order");
}

/// The judge stops us while we wait here and changes the sequence before it lets us go on, so no wake-up is
/// needed: the interrupted wait looks at the word again by itself.
uint32_t wait_for_order(uint32_t seen) {
  for (;;) {
    uint32_t now = orders->sequence.load(std::memory_order_acquire);
    if (now != seen) return now;
    syscall(SYS_futex, &orders->sequence, FUTEX_WAIT, seen, nullptr, nullptr, 0);
  }
}

void* map_file(int descriptor, size_t bytes, int protection) {
  void* at = mmap(nullptr, bytes, protection, MAP_SHARED, descriptor, 0);
  return at == MAP_FAILED ? nullptr : at;
}

}  // namespace

int main() {
  orders = static_cast<const Orders*>(map_file(kOrdersDescriptor, kOrdersBytes, PROT_READ));
  notes = static_cast<Notes*>(map_file(kNotesDescriptor, kNotesBytes, PROT_READ | PROT_WRITE));
  if (!orders || !notes || orders->version != kProtocolVersion) {
    fputs("ako-guest-host is started by ako, with the descriptors of its protocol\n", stderr);
    return 2;
  }
  install_handlers();
  for (uint32_t sequence = 0;;) {
    sequence = wait_for_order(sequence);
    notes->answer = carry_out(orders->order);
    notes->done.store(sequence, std::memory_order_release);
    syscall(SYS_futex, &notes->done, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  }
}
