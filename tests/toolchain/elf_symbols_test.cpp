// SPDX-License-Identifier: Apache-2.0
#include "toolchain/host/elf_symbols.h"

#include "base/random.h"
#include "toolchain/candidates_fixture.h"

namespace ako {
namespace {
using testing::scale_candidate;

class ElfSymbolsTest : public testing::RealToolchain {
 protected:
  std::string object() {
    return read_file(
               built(scale_candidate("#include <cmath>\n#include <stdlib.h>\nstatic int hidden;\n"
                                     "extern \"C\" void scale(const float* x, float* y, float, long n) {\n"
                                     "#pragma omp parallel for\n"
                                     "  for (long i = 0; i < n; ++i) y[i] = std::exp(x[i]);\n"
                                     "  if (n < hidden--) system(\"\");\n}\n"))
                   .code)
        .value();
  }
};

TEST_F(ElfSymbolsTest, TellWhatIsImportedAndFromWhere) {
  auto symbols = elf_symbols(object());
  ASSERT_TRUE(symbols);
  EXPECT_TRUE(symbols->imported.contains("system"));
  EXPECT_TRUE(std::count(symbols->needed.begin(), symbols->needed.end(), "libc.so.6"));
  EXPECT_FALSE(symbols->imported.contains("scale"));
}

TEST_F(ElfSymbolsTest, SurviveDamage) {
  std::string whole = object();
  for (std::size_t size = 0; size < whole.size(); size += 7)
    (void)elf_symbols(std::string_view(whole).substr(0, size));
  Random random(1);
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = whole;
    for (int j = 0; j < 4; ++j) {
      // Half of the damage hits the header and the section table, where it does most.
      std::size_t near = random.below(2) ? random.below(64) : damaged.size() - 1 - random.below(2048);
      damaged[random.below(2) ? near : random.below(damaged.size())] = static_cast<char>(random());
    }
    (void)elf_symbols(damaged);
  }
  EXPECT_FALSE(elf_symbols(whole.substr(0, 100)));
}

TEST(ElfSymbols, RefuseOtherFiles) {
  EXPECT_FALSE(elf_symbols(""));
  EXPECT_FALSE(elf_symbols("#!/bin/sh\n"));
  EXPECT_FALSE(imported_symbols("/nonexistent"));
}

}  // namespace
}  // namespace ako
