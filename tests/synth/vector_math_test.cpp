// SPDX-License-Identifier: Apache-2.0
// The emitted elementary functions against the C library's in fp64, over their whole range.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>

#include "synth/element.h"
#include "synth/polynomials.h"

namespace ako::synth {
namespace {

void append(const std::string& name, int lanes, std::set<std::string>& written, std::string& text) {
  if (!written.insert(name).second) return;
  for (const std::string& below : support_needs(name)) append(below, lanes, written, text);
  text += support_source(name, "float", lanes);
}

using Function = void (*)(const float*, float*);

/// One shared object with every function at a width; each maps 16 floats.
void* compile(int lanes) {
  std::string text = "#include <cstdint>\n" + vector_types_source("float", lanes);
  std::set<std::string> written;
  for (const char* name : {"v_exp", "v_exp2", "v_log", "v_log2", "v_tanh", "v_erf", "v_sigmoid"}) {
    append(name, lanes, written, text);
    text += fmt::format(
        "extern \"C\" void call_{0}(const float* x, float* y) {{\n"
        "  for (int i = 0; i < 16; i += lanes) *(vec_at*)(y + i) = {0}(*(const vec_at*)(x + i));\n}}\n",
        name);
  }
  const auto base =
      std::filesystem::temp_directory_path() / fmt::format("ako-vector-math-{}-{}", lanes, getpid());
  std::ofstream(base.string() + ".cpp") << text;
  const std::string command =
      fmt::format("g++ -O2 -march=native -std=c++20 -shared -fPIC {0}.cpp -o {0}.so", base.string());
  void* library =
      std::system(command.c_str()) == 0 ? dlopen((base.string() + ".so").c_str(), RTLD_NOW) : nullptr;
  std::filesystem::remove(base.string() + ".cpp");
  std::filesystem::remove(base.string() + ".so");
  return library;
}

/// Units in the last place of the float nearest to the exact value.
double ulps(float got, double exact) {
  const float nearest = static_cast<float>(exact);
  if (got == nearest || (std::isnan(got) && std::isnan(exact))) return 0;
  if (std::isinf(nearest) || std::isnan(nearest) || std::isnan(got)) return 1e9;
  const double unit =
      std::max(std::ldexp(1.0, std::ilogb(std::fabs(nearest) > 0 ? nearest : 1e-45F) - 23), 0x1p-149);
  return std::fabs(got - exact) / unit;
}

struct Case {
  const char* name;
  std::function<double(double)> exact;
  double allowed;
};

class VectorMath : public ::testing::TestWithParam<int> {};

TEST_P(VectorMath, StaysWithinAFewUnitsInTheLastPlaceEverywhere) {
  const int lanes = GetParam();
  if (lanes == 16 && !__builtin_cpu_supports("avx512f"))
    GTEST_SKIP() << "this processor has no 512-bit vectors";
  void* library = compile(lanes);
  ASSERT_NE(library, nullptr);
  const std::vector<Case> cases = {
      {"v_exp", [](double x) { return std::exp(x); }, 1.5},
      {"v_exp2", [](double x) { return std::exp2(x); }, 1.5},
      {"v_log", [](double x) { return std::log(x); }, 2},
      {"v_log2", [](double x) { return std::log2(x); }, 2.5},
      {"v_tanh", [](double x) { return std::tanh(x); }, 2.5},
      {"v_erf", [](double x) { return std::erf(x); }, 2.5},
      {"v_sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }, 3},
  };
  for (const Case& function : cases) {
    auto* call = reinterpret_cast<Function>(dlsym(library, (std::string("call_") + function.name).c_str()));
    ASSERT_NE(call, nullptr);
    double worst = 0;
    float where = 0;
    // Every 997th float there is, which visits every binade hundreds of times; then the special values.
    std::uint32_t bits = 0;
    for (std::uint64_t block = 0; block * 16 * 997 < (std::uint64_t{1} << 32) + 32; ++block) {
      float x[16], y[16];
      for (float& value : x) {
        std::memcpy(&value, &bits, 4);
        bits += 997;
      }
      if (block == 0) {
        const float special[8] = {INFINITY, -INFINITY, NAN, 0.0F, -0.0F, 1.0F, -1.0F, 88.7F};
        std::memcpy(x, special, sizeof special);
      }
      call(x, y);
      for (int i = 0; i < 16; ++i) {
        const double error = ulps(y[i], function.exact(x[i]));
        if (error > worst) worst = error, where = x[i];
      }
    }
    EXPECT_LE(worst, function.allowed) << function.name << " of " << where << " with " << lanes << " lanes";
  }
  dlclose(library);
}

INSTANTIATE_TEST_SUITE_P(Lanes, VectorMath, ::testing::Values(4, 16));

}  // namespace
}  // namespace ako::synth
