// SPDX-License-Identifier: Apache-2.0
// guest/include/ako/kernel.h, compiled as candidates are, against the exact conversions of src/problem.
#include <dlfcn.h>

#include <bit>
#include <cmath>

#include "problem/scalar_type.h"
#include "toolchain/candidates_fixture.h"

namespace ako {
namespace {

/// Loops over the conversions of every type: encode_TYPE(floats, codes, n) and decode_TYPE(codes, floats, n).
constexpr std::string_view converters = R"(
#include "ako/kernel.h"
#define CONVERTERS(TYPE, CODE)                                                              \
  extern "C" __attribute__((visibility("default"))) void encode_##TYPE(const float* x, CODE* y, long n) { \
    for (long i = 0; i < n; ++i) y[i] = ako::TYPE(x[i]).bits;                               \
  }                                                                                         \
  extern "C" __attribute__((visibility("default"))) void decode_##TYPE(const CODE* x, float* y, long n) { \
    for (long i = 0; i < n; ++i) y[i] = __builtin_bit_cast(ako::TYPE, x[i]);                \
  }
CONVERTERS(bf16, ako::u16)
CONVERTERS(f16, ako::u16)
CONVERTERS(f8e4m3, ako::u8)
CONVERTERS(f8e5m2, ako::u8)
CONVERTERS(f8e4m3fnuz, ako::u8)
CONVERTERS(f8e5m2fnuz, ako::u8)
extern "C" __attribute__((visibility("default"))) void encode_vectors(const float* x, ako::u16* y, long n) {
  for (long i = 0; i < n; i += 16) *(ako::u16x16*)(y + i) = ako::float_to_bf16(*(const ako::f32x16*)(x + i));
}
extern "C" void scale(const float*, float*, float, long) {}
)";

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

/// Floats at even distances, and every one of few significant bits with its neighbours: ties and edges are
/// among them.
std::vector<float> many_floats() {
  std::vector<float> all;
  for (std::uint64_t bits = 0; bits < 1ull << 32; bits += 131'071)
    all.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  for (std::uint32_t head = 0; head < 1u << 14; ++head)
    for (std::int32_t offset : {-1, 0, 1, 0x8000, 0x18000, 0x1FFFF})
      all.push_back(std::bit_cast<float>((head << 18) + static_cast<std::uint32_t>(offset)));
  all.resize(all.size() / 16 * 16);
  return all;
}

class KernelHeader : public testing::RealToolchain {
 protected:
  void load(std::vector<std::string> flags) {
    Candidate candidate = testing::scale_candidate(converters);
    candidate.flags = std::move(flags);
    library_.reset(::dlopen(built(candidate).code.c_str(), RTLD_NOW | RTLD_LOCAL));
    ASSERT_TRUE(library_) << ::dlerror();
  }
  template <class Code>
  void expect_exact(ScalarType type) {
    std::string name(name_of(type));
    std::vector<Code> codes(std::size_t{1} << storage_bits(type));
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<Code>(i);
    std::vector<float> values(codes.size());
    call("decode_" + name, codes.data(), values.data(), values.size());
    for (std::size_t i = 0; i < codes.size(); ++i)
      ASSERT_TRUE(same(values[i], decode(type, i)) || (finite_only_ && std::isnan(decode(type, i))))
          << name << " code " << i << " is " << values[i];

    codes.resize(floats_.size());
    call("encode_" + name, floats_.data(), codes.data(), floats_.size());
    for (std::size_t i = 0; i < floats_.size(); ++i) {
      std::uint64_t expected = encode(type, floats_[i]);
      bool both_nan = std::isnan(floats_[i]) && (finite_only_ || std::isnan(decode(type, codes[i])));
      ASSERT_TRUE(expected == codes[i] || both_nan)
          << name << " of " << floats_[i] << " is " << int{codes[i]};
    }
  }
  void expect_all_exact() {
    expect_exact<std::uint16_t>(ScalarType::bf16);
    expect_exact<std::uint16_t>(ScalarType::f16);
    for (ScalarType type :
         {ScalarType::f8e4m3, ScalarType::f8e5m2, ScalarType::f8e4m3fnuz, ScalarType::f8e5m2fnuz})
      expect_exact<std::uint8_t>(type);
  }
  template <class In, class Out>
  void call(const std::string& symbol, const In* in, Out* out, std::size_t count) {
    auto convert = reinterpret_cast<void (*)(const In*, Out*, long)>(::dlsym(library_.get(), symbol.c_str()));
    ASSERT_NE(convert, nullptr) << symbol;
    convert(in, out, static_cast<long>(count));
  }

  struct Unload {
    void operator()(void* library) const { ::dlclose(library); }
  };
  std::unique_ptr<void, Unload> library_;
  std::vector<float> floats_ = many_floats();
  bool finite_only_ = false;  // -ffinite-math-only: the compiler may take it that there are no NaN
};

TEST_F(KernelHeader, ConvertsExactly) {
  load({});
  expect_all_exact();
}

TEST_F(KernelHeader, ConvertsExactlyWhenTheCompilerMayReorderArithmetic) {
  finite_only_ = true;
  load({"-fassociative-math", "-ffinite-math-only", "-fno-signed-zeros", "-freciprocal-math"});
  expect_all_exact();
}

TEST_F(KernelHeader, ConvertsVectorsAsItConvertsScalars) {
  load({});
  std::vector<std::uint16_t> one(floats_.size()), sixteen(floats_.size());
  call("encode_bf16", floats_.data(), one.data(), floats_.size());
  call("encode_vectors", floats_.data(), sixteen.data(), floats_.size());
  EXPECT_EQ(one, sixteen);
}

}  // namespace
}  // namespace ako
