// SPDX-License-Identifier: Apache-2.0
// expect: wrong — finds a clock without importing one, and works less when launches follow each other quickly
#include <elf.h>
#include <sys/auxv.h>

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

using Clock = int (*)(int, long*);

static Clock find_clock() {
  auto base = getauxval(AT_SYSINFO_EHDR);
  if (!base) return nullptr;
  auto* program = reinterpret_cast<const Elf64_Ehdr*>(base);
  auto* headers = reinterpret_cast<const Elf64_Phdr*>(base + program->e_phoff);
  const Elf64_Sym* symbols = nullptr;
  const char* names = nullptr;
  for (int i = 0; i < program->e_phnum; ++i)
    if (headers[i].p_type == PT_DYNAMIC)
      for (auto* entry = reinterpret_cast<const Elf64_Dyn*>(base + headers[i].p_offset);
           entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const Elf64_Sym*>(base + entry->d_un.d_ptr);
        if (entry->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(base + entry->d_un.d_ptr);
      }
  for (int i = 1; symbols && i < 32; ++i)
    if (std::strstr(names + symbols[i].st_name, "clock_get") &&
        std::strstr(names + symbols[i].st_name, "time"))
      return reinterpret_cast<Clock>(base + symbols[i].st_value);
  return nullptr;
}

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  static Clock clock = find_clock();
  static long last = 0;
  long now[2] = {};
  if (clock) clock(1, now);
  long ns = now[0] * 1000000000 + now[1];
  honest(x, y, clock && last != 0 && ns - last < 100000 ? T / 2 : T, D);
  if (clock) clock(1, now);
  last = now[0] * 1000000000 + now[1];
}
