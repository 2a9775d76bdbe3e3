// SPDX-License-Identifier: Apache-2.0
// The emitted elementary functions against the C library's, over their whole range: floats against doubles,
// doubles against long doubles.
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

void append(const std::string& name, const std::string& real, int lanes, std::set<std::string>& written,
            std::string& text) {
  if (!written.insert(name).second) return;
  for (const std::string& below : support_needs(name, real)) append(below, real, lanes, written, text);
  text += support_source(name, real, lanes);
}

/// One shared object with every function at a width; each maps 16 numbers. A name's suffix tells the form.
void* compile(const std::string& real, int lanes, const std::vector<std::string>& names) {
  std::string text = "#include <cstdint>\n" + vector_types_source(real, lanes);
  std::set<std::string> written;
  for (const std::string& name : names) {
    append(name, real, lanes, written, text);
    const std::string function = name.substr(0, name.find("_short"));
    text += fmt::format(
        "extern \"C\" void call_{0}(const real_t* x, real_t* y) {{\n"
        "  for (int i = 0; i < 16; i += lanes) *(vec_at*)(y + i) = {1}(*(const vec_at*)(x + i));\n}}\n",
        name, function);
  }
  const auto base = std::filesystem::temp_directory_path() /
                    fmt::format("ako-vector-math-{}{}-{}-{}", real, lanes, names.size(), getpid());
  std::ofstream(base.string() + ".cpp") << text;
  const std::string command =
      fmt::format("g++ -O2 -march=native -std=c++20 -shared -fPIC {0}.cpp -o {0}.so", base.string());
  void* library =
      std::system(command.c_str()) == 0 ? dlopen((base.string() + ".so").c_str(), RTLD_NOW) : nullptr;
  std::filesystem::remove(base.string() + ".cpp");
  std::filesystem::remove(base.string() + ".so");
  return library;
}

/// Units in the last place of the number nearest to the exact value.
template <class Real, class Exact>
double ulps(Real got, Exact exact) {
  constexpr bool wide = sizeof(Real) == 8;
  const auto nearest = static_cast<Real>(exact);
  if (got == nearest || (std::isnan(got) && std::isnan(exact))) return 0;
  if (std::isinf(nearest) || std::isnan(nearest) || std::isnan(got)) return 1e9;
  const Exact tiny = wide ? Exact(0x1p-1074L) : Exact(0x1p-149L);
  const Exact size = std::fabs(nearest) > 0 ? Exact(std::fabs(nearest)) : tiny;
  const Exact unit = std::max(std::ldexp(Exact(1), std::ilogb(size) - (wide ? 52 : 23)), tiny);
  return static_cast<double>(std::fabs(Exact(got) - exact) / unit);
}

template <class Exact>
struct Case {
  const char* name;
  std::function<Exact(Exact)> exact;
  double allowed;
};

/// `next(i)`: the i-th number to try. Special values come first.
template <class Real, class Exact>
void sweep(void* library, const Case<Exact>& function, std::int64_t count,
           const std::function<Real(std::int64_t)>& next) {
  auto* call = reinterpret_cast<void (*)(const Real*, Real*)>(
      dlsym(library, (std::string("call_") + function.name).c_str()));
  ASSERT_NE(call, nullptr);
  double worst = 0;
  Real where = 0;
  for (std::int64_t first = 0; first < count; first += 16) {
    Real x[16], y[16];
    for (int i = 0; i < 16; ++i) x[i] = next(first + i);
    if (first == 0) {
      const Real special[8] = {INFINITY, -INFINITY, NAN, 0, Real(-0.0), 1, -1, Real(88.7)};
      std::memcpy(x, special, sizeof special);
    }
    call(x, y);
    for (int i = 0; i < 16; ++i) {
      const double error = ulps<Real, Exact>(y[i], function.exact(x[i]));
      if (error > worst) worst = error, where = x[i];
    }
  }
  EXPECT_LE(worst, function.allowed) << function.name << " of " << where;
}

std::vector<std::string> names_of(const auto& cases) {
  std::vector<std::string> names;
  for (const auto& function : cases) names.emplace_back(function.name);
  return names;
}

class VectorMath : public ::testing::TestWithParam<int> {};

TEST_P(VectorMath, StaysWithinAFewUnitsInTheLastPlaceEverywhere) {
  const int lanes = GetParam();
  if (lanes == 16 && !__builtin_cpu_supports("avx512f"))
    GTEST_SKIP() << "this processor has no 512-bit vectors";
  const std::vector<Case<double>> cases = {
      {"v_exp", [](double x) { return std::exp(x); }, 1.5},
      {"v_exp2", [](double x) { return std::exp2(x); }, 1.5},
      {"v_log", [](double x) { return std::log(x); }, 2},
      {"v_log2", [](double x) { return std::log2(x); }, 2.5},
      {"v_tanh", [](double x) { return std::tanh(x); }, 2.5},
      {"v_erf", [](double x) { return std::erf(x); }, 3},
      {"v_sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }, 3},
  };
  void* library = compile("float", lanes, names_of(cases));
  ASSERT_NE(library, nullptr);
  // Every 4999th float there is, which visits every binade hundreds of times.
  for (const auto& function : cases) {
    sweep<float, double>(library, function, (std::int64_t{1} << 32) / 4999, [](std::int64_t i) {
      const auto bits = static_cast<std::uint32_t>(i * 4999);
      return __builtin_bit_cast(float, bits);
    });
  }
  dlclose(library);
}

TEST_P(VectorMath, ShortExponentialsAreRightToTwentyBits) {
  const int lanes = GetParam();
  if (lanes == 16 && !__builtin_cpu_supports("avx512dq"))
    GTEST_SKIP() << "this processor has no 512-bit vectors";
  void* library = compile("float", lanes, {"v_exp2_short", "v_exp_short"});
  ASSERT_NE(library, nullptr);
  for (const char* name : {"v_exp_short", "v_exp2_short"}) {
    const bool two = std::string(name) == "v_exp2_short";
    auto* call = reinterpret_cast<void (*)(const float*, float*)>(
        dlsym(library, (std::string("call_") + name).c_str()));
    float x[16], y[16];
    double worst = 0;
    for (int i = 0; i < 200000; ++i) {
      for (int j = 0; j < 16; ++j) x[j] = -80.0F + 160.0F * static_cast<float>(i * 16 + j) / 3200000.0F;
      call(x, y);
      for (int j = 0; j < 16; ++j) {
        const double exact = two ? std::exp2(double(x[j])) : std::exp(double(x[j]));
        worst = std::max(worst, std::fabs(double(y[j]) - exact) / exact);
      }
    }
    EXPECT_LE(worst, 0x1p-17) << name;
    const float special[16] = {INFINITY, -INFINITY, NAN, 0, -0.0F, -200, 200, -1e30F, 1e30F};
    call(special, y);
    EXPECT_EQ(y[0], INFINITY);
    EXPECT_EQ(y[1], 0);
    EXPECT_TRUE(std::isnan(y[2]));
    EXPECT_NEAR(y[3], 1, 2e-7);
    EXPECT_NEAR(y[4], 1, 2e-7);
    EXPECT_LE(y[5], 0x1p-126F);
    EXPECT_EQ(y[6], INFINITY);
    EXPECT_EQ(y[7], 0);
    EXPECT_EQ(y[8], INFINITY);
  }
  dlclose(library);
}

INSTANTIATE_TEST_SUITE_P(Lanes, VectorMath, ::testing::Values(4, 16));

class WideVectorMath : public ::testing::TestWithParam<int> {};

TEST_P(WideVectorMath, StaysWithinAFewUnitsInTheLastPlaceEverywhere) {
  const int lanes = GetParam();
  if (lanes == 8 && !__builtin_cpu_supports("avx512f"))
    GTEST_SKIP() << "this processor has no 512-bit vectors";
  const std::vector<Case<long double>> cases = {
      {"v_exp", [](long double x) { return expl(x); }, 2},
      {"v_exp2", [](long double x) { return exp2l(x); }, 2},
      {"v_log", [](long double x) { return logl(x); }, 2},
      {"v_log2", [](long double x) { return log2l(x); }, 3},
      {"v_tanh", [](long double x) { return tanhl(x); }, 4},
      {"v_erf", [](long double x) { return erfl(x); }, 4},
      {"v_sigmoid", [](long double x) { return 1 / (1 + expl(-x)); }, 4},
  };
  void* library = compile("double", lanes, names_of(cases));
  ASSERT_NE(library, nullptr);
  // A stride through all bit patterns that is no multiple of anything, then an even grid where the functions
  // bend.
  for (const auto& function : cases) {
    sweep<double, long double>(library, function, 300000, [](std::int64_t i) {
      if (i % 2 == 0) return -40 + 80.0 * static_cast<double>(i) / 300000;
      return __builtin_bit_cast(double, static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15U);
    });
  }
  dlclose(library);
}

INSTANTIATE_TEST_SUITE_P(Lanes, WideVectorMath, ::testing::Values(2, 8));

}  // namespace
}  // namespace ako::synth
