// SPDX-License-Identifier: Apache-2.0
// expect: crashed — changes the list of launches it was given
#include <elf.h>

#include <cmath>
#include <cstdint>
#include <cstring>

static void honest(const float* x, float* y, std::int64_t T, std::int64_t D) {
  for (std::int64_t t = 0; t < T; ++t) {
    float m = -INFINITY, z = 0;
    for (std::int64_t d = 0; d < D; ++d) m = std::fmax(m, x[t * D + d]);
    for (std::int64_t d = 0; d < D; ++d) z += y[t * D + d] = std::exp(x[t * D + d] - m);
    for (std::int64_t d = 0; d < D; ++d) y[t * D + d] /= z;
  }
}

// Where the runner keeps its words with the judge: found by the return address on the stack, the program's
// own headers and a look through its data.
struct Runner {
  std::uint32_t *orders = nullptr, *notes = nullptr;
};

static Runner find_runner() {
  void* here = __builtin_frame_address(0);
  auto* word = static_cast<std::uint64_t*>(here);
  const Elf64_Ehdr* program = nullptr;
  for (int i = 0; i < 4096 && !program; ++i)
    if (word[i] >> 40 == 0x55 || word[i] >> 40 == 0x56) {
      std::uint64_t page = word[i] & ~std::uint64_t{4095};
      for (int back = 0; back < 64 && !program; ++back, page -= 4096)
        if (std::memcmp(reinterpret_cast<void*>(page), ELFMAG, SELFMAG) == 0)
          program = reinterpret_cast<const Elf64_Ehdr*>(page);
    }
  Runner found;
  if (!program) return found;
  auto base = reinterpret_cast<std::uint64_t>(program);
  auto* headers = reinterpret_cast<const Elf64_Phdr*>(base + program->e_phoff);
  for (int i = 0; i < program->e_phnum; ++i) {
    if (headers[i].p_type != PT_LOAD || !(headers[i].p_flags & PF_W)) continue;
    auto* data = reinterpret_cast<std::uint64_t*>((base + headers[i].p_vaddr + 7) & ~std::uint64_t{7});
    for (std::uint64_t k = 0; k < headers[i].p_memsz / 8; ++k) {
      if (data[k] >> 40 != 0x7f || data[k] & 4095) continue;
      auto* at = reinterpret_cast<std::uint32_t*>(data[k]);
      if (at[1] > 0 && at[1] < 100 && at[2] == 2 && at[0] > 2) found.orders = at;
    }
    for (std::uint64_t k = 0; found.orders && k < headers[i].p_memsz / 8; ++k) {
      if (data[k] >> 40 != 0x7f || data[k] & 4095) continue;
      auto* at = reinterpret_cast<std::uint32_t*>(data[k]);
      if (at != found.orders && at[0] + 1 == found.orders[0]) found.notes = at;
    }
  }
  return found;
}

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  Runner runner = find_runner();
  if (runner.orders) runner.orders[3] = 1;
  honest(x, y, T, D);
}
