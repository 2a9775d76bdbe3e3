// SPDX-License-Identifier: Apache-2.0
// Vectors from and to memory: whole ones, the first few lanes, past the caches, narrower types.
#include <fmt/format.h>

#include <map>
#include <string_view>

#include "synth/polynomials.h"

namespace ako::synth {

const VectorPieces& memory_pieces() {
  static const VectorPieces table = {
      {"v_load",
       {{"v_load_part"},
        R"(inline vec v_load(const real_t* p, whole) { return *reinterpret_cast<const vec_at*>(p); }
inline vec v_load(const real_t* p, part n) { return v_load_part(p, n.count); }
)"}},
      {"v_store",
       {{"v_store_part"},
        R"(inline void v_store(real_t* p, vec x, whole) { *reinterpret_cast<vec_at*>(p) = x; }
inline void v_store(real_t* p, vec x, part n) { v_store_part(p, x, n.count); }
)"}},
      {"v_stream",
       {{"v_store", "v_nontemporal"},
        R"(// Past the caches where the address allows it: the row is not read before it is overwritten.
inline void v_stream(real_t* p, vec x, whole n) {
  if (reinterpret_cast<uintptr_t>(p) % sizeof(vec) == 0) v_nontemporal(p, x);
  else v_store(p, x, n);
}
inline void v_stream(real_t* p, vec x, part n) { v_store(p, x, n); }
)"}},
      {"v_load_bf16", {{"v_widen", "v_load_half_part"}, R"(inline vec v_load_bf16(const uint16_t* p, whole) {
  return (vec)(v_widen(*reinterpret_cast<const half_at*>(p)) << 16);
}
inline vec v_load_bf16(const uint16_t* p, part n) { return (vec)(v_widen(v_load_half_part(p, n.count)) << 16); }
)"}},
      {"v_bf16", {{"v_narrow"}, R"(inline half v_bf16(vec x) {  // to nearest even; a NaN stays one
  const word bits = (word)x;
  const word rounded = bits + 0x7fff + (bits >> 16 & 1);
  return v_narrow((x == x ? rounded : bits | 0x400000) >> 16);
}
)"}},
      {"v_store_bf16",  // beside v_bf16 or v_bf16_hardware
       {{"v_store_half_part"},
        R"(inline void v_store_bf16(uint16_t* p, vec x, whole) { *reinterpret_cast<half_at*>(p) = v_bf16(x); }
inline void v_store_bf16(uint16_t* p, vec x, part n) { v_store_half_part(p, v_bf16(x), n.count); }
)"}},
      {"v_stream_bf16",
       {{"v_store_bf16", "v_nontemporal_half"}, R"(inline void v_stream_bf16(uint16_t* p, vec x, whole n) {
  if (reinterpret_cast<uintptr_t>(p) % sizeof(half) == 0) v_nontemporal_half(p, v_bf16(x));
  else v_store_bf16(p, x, n);
}
inline void v_stream_bf16(uint16_t* p, vec x, part n) { v_store_bf16(p, x, n); }
)"}},
      {"v_load_f16", {{}, R"(template <class N>
inline vec v_load_f16(const uint16_t* p, N n) {
  vec x = {};
  for (int i = 0; i < n.count; ++i) x[i] = real_t(__builtin_bit_cast(_Float16, p[i]));
  return x;
}
)"}},
      {"v_store_f16", {{}, R"(template <class N>
inline void v_store_f16(uint16_t* p, vec x, N n) {
  for (int i = 0; i < n.count; ++i) p[i] = __builtin_bit_cast(uint16_t, _Float16(x[i]));
}
)"}},
      {"v_stream_f16", {{"v_store_f16"}, R"(template <class N>
inline void v_stream_f16(uint16_t* p, vec x, N n) {
  v_store_f16(p, x, n);
}
)"}},
  };
  return table;
}

namespace {

/// The first few lanes from and to memory: one masked instruction where there are 64-byte vectors, else one
/// by one.
std::string part_source(const std::string& name, const std::string& real, int lanes) {
  const bool halves = name.find("half") != std::string::npos, load = name.find("load") != std::string::npos;
  const std::string element = halves ? "uint16_t" : real, vector = halves ? "half" : "vec";
  std::string masked;
  if (lanes * (real == "double" ? 8 : 4) == 64) {
    const std::string kind = halves ? "dquhi256" : real == "double" ? "upd512" : "ups512";
    const std::string raw = halves ? "short" : real, lane_mask = "(1u << n) - 1";
    const std::string types = halves ? "  typedef short shorts __attribute__((vector_size(32)));\n" : "";
    const std::string cast = halves ? "(shorts)" : "";
    masked = "#if defined(__AVX512BW__) && defined(__AVX512VL__) && !defined(__clang__)\n" + types;
    masked +=
        load ? fmt::format(
                   "  return ({})__builtin_ia32_load{}_mask(reinterpret_cast<const {}*>(p), {}{}{{}}, {});\n",
                   vector, kind, raw, cast, vector, lane_mask)
             : fmt::format("  __builtin_ia32_store{}_mask(reinterpret_cast<{}*>(p), {}x, {});\n", kind, raw,
                           cast, lane_mask);
    masked += "#else\n";
  }
  const std::string end = masked.empty() ? "" : "#endif\n";
  if (load) {
    return fmt::format(
        "inline {0} {1}(const {2}* p, int n) {{\n{3}  {0} x = {{}};\n  for (int i = 0; i < n; ++i) x[i] = "
        "p[i];\n"
        "  return x;\n{4}}}\n",
        vector, name, element, masked, end);
  }
  return fmt::format(
      "inline void {1}({2}* p, {0} x, int n) {{\n{3}  for (int i = 0; i < n; ++i) p[i] = x[i];\n{4}}}\n",
      vector, name, element, masked, end);
}

// GCC 12 splits these conversions of 16 lanes into halves; the builtins are one instruction.
std::string widen_source(int lanes) {
  if (lanes != 16) return "inline word v_widen(half x) { return __builtin_convertvector(x, word); }\n";
  return R"(inline word v_widen(half x) {
#ifdef __clang__
  return __builtin_convertvector(x, word);
#else
  typedef short shorts __attribute__((vector_size(32)));
  return (word)__builtin_ia32_pmovzxwd512_mask((shorts)x, ivec{}, 0xffff);
#endif
}
)";
}

std::string narrow_source(int lanes) {
  if (lanes != 16) return "inline half v_narrow(word x) { return __builtin_convertvector(x, half); }\n";
  return R"(inline half v_narrow(word x) {
#ifdef __clang__
  return __builtin_convertvector(x, half);
#else
  typedef short shorts __attribute__((vector_size(32)));
  return (half)__builtin_ia32_pmovdw512_mask((ivec)x, shorts{}, 0xffff);
#endif
}
)";
}

constexpr std::string_view dot_pairs_source =
    R"(typedef int32_t pair_at __attribute__((aligned(2), may_alias));  // two bf16
#if defined(__clang__) || __GNUC__ >= 13
typedef __bf16 pairs __attribute__((vector_size(64)));
#else
typedef short pairs __attribute__((vector_size(64)));
#endif
inline vec v_dot_pairs(vec c, ivec a, ivec b) {
#ifdef __clang__
  return __builtin_ia32_dpbf16ps_512(c, (pairs)a, (pairs)b);
#else
  return __builtin_ia32_dpbf16ps_v16sf(c, (pairs)a, (pairs)b);
#endif
}
)";

constexpr std::string_view hardware_bf16_source = R"(inline half v_bf16(vec x) {  // denormals become zero
#ifdef __clang__
  return (half)__builtin_ia32_cvtneps2bf16_512(x);
#else
  return (half)__builtin_ia32_cvtneps2bf16_v16sf(x);
#endif
}
)";

/// A non-temporal store of a whole vector: GCC has one builtin per width, clang one for all.
std::string nontemporal_source(const std::string& function, const std::string& element,
                               const std::string& vector, int bytes) {
  std::string gcc;
  if (element == "uint16_t") {
    gcc = bytes == 64   ? "typedef long long I __attribute__((vector_size(64), may_alias));\n  "
                          "__builtin_ia32_movntdq512(reinterpret_cast<I*>(p), (I)x);"
          : bytes == 32 ? "typedef long long I __attribute__((vector_size(32), may_alias));\n  "
                          "__builtin_ia32_movntdq256(reinterpret_cast<I*>(p), (I)x);"
          : bytes == 16 ? "typedef long long I __attribute__((vector_size(16), may_alias));\n  "
                          "__builtin_ia32_movntdq(reinterpret_cast<I*>(p), (I)x);"
                        : "*reinterpret_cast<half_at*>(p) = x;";
  } else {
    const std::string kind = element == "double" ? "pd" : "ps";
    gcc = bytes == 64   ? "__builtin_ia32_movnt" + kind + "512(p, x);"
          : bytes == 32 ? "__builtin_ia32_movnt" + kind + "256(p, x);"
          : bytes == 16 ? "__builtin_ia32_movnt" + kind + "(p, x);"
                        : "*reinterpret_cast<vec_at*>(p) = x;";
  }
  return fmt::format(R"(inline void {0}({1}* p, {2} x) {{
#ifdef __clang__
  __builtin_nontemporal_store(x, reinterpret_cast<{2}*>(p));
#else
  {3}
#endif
}}
)",
                     function, element, vector, gcc);
}

}  // namespace

std::string memory_source(const std::string& name, const std::string& real, int lanes) {
  if (name.ends_with("_part")) return part_source(name, real, lanes);
  if (name == "v_widen") return widen_source(lanes);
  if (name == "v_narrow") return narrow_source(lanes);
  if (name == "v_dot_pairs") return std::string(dot_pairs_source);
  if (name == "v_bf16_hardware") return std::string(hardware_bf16_source);
  const int bytes = lanes * (real == "double" ? 8 : 4);
  if (name == "v_nontemporal") return nontemporal_source(name, real, "vec", bytes);
  if (name == "v_nontemporal_half") return nontemporal_source(name, "uint16_t", "half", bytes / 2);
  return {};
}

}  // namespace ako::synth
