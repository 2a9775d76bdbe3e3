// SPDX-License-Identifier: Apache-2.0
#include "report/export_test_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ako {
namespace {

std::string literal(double value) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value > 0 ? "INFINITY" : "-INFINITY";
  return fmt::format("{:.17g}", value);
}

/// An expression for element i of `bytes` as a double.
std::string decoder(ScalarType type) {
  const std::string head = fmt::format("double decode_{}(const void* bytes, int64_t i) {{\n", name_of(type));
  auto plain = [&](std::string_view c_type) {
    return fmt::format("{}  return (double)((const {}*)bytes)[i];\n}}\n", head, c_type);
  };
  switch (type) {
    case ScalarType::f64:
      return plain("double");
    case ScalarType::f32:
    case ScalarType::tf32:
      return plain("float");
    case ScalarType::i64:
      return plain("int64_t");
    case ScalarType::i32:
      return plain("int32_t");
    case ScalarType::i16:
      return plain("int16_t");
    case ScalarType::i8:
      return plain("int8_t");
    case ScalarType::u8:
    case ScalarType::boolean:
      return plain("uint8_t");
    case ScalarType::bf16:
      return head +
             "  uint32_t wide = (uint32_t)((const uint16_t*)bytes)[i] << 16;\n"
             "  float value;\n  memcpy(&value, &wide, 4);\n  return value;\n}\n";
    case ScalarType::f16:
      return head +
             "  uint16_t code = ((const uint16_t*)bytes)[i];\n"
             "  int exponent = code >> 10 & 31, fraction = code & 1023;\n"
             "  double value = exponent == 31 ? (fraction ? NAN : INFINITY)\n"
             "                 : exponent    ? ldexp(1024 + fraction, exponent - 25)\n"
             "                               : ldexp(fraction, -24);\n"
             "  return code & 0x8000 ? -value : value;\n}\n";
    default:
      break;
  }
  // At most a byte: a table of every code, elements packed from the least significant bit.
  const int bits = storage_bits(type);
  std::vector<std::string> values;
  for (int code = 0; code < 1 << bits; ++code)
    values.push_back(literal(decode(type, static_cast<std::uint64_t>(code))));
  return head + fmt::format(
                    "  static const double values[] = {{{}}};\n"
                    "  const uint8_t* at = (const uint8_t*)bytes + i * {bits} / 8;\n"
                    "  unsigned shift = i * {bits} % 8, word = at[0];\n"
                    "  if (shift + {bits} > 8) word |= (unsigned)at[1] << 8;\n"
                    "  return values[word >> shift & {mask}];\n}}\n",
                    fmt::join(values, ", "), fmt::arg("bits", bits), fmt::arg("mask", (1 << bits) - 1));
}

std::string check_call(const TestTensor& tensor) {
  const Tolerance& bound = tensor.tolerance;
  const bool exact = class_of(tensor.type) != NumberClass::real;
  return fmt::format(
      "  failures += !check(\"{0}\", {0}, decode_{1}, expected_{0}, {2}, {3}, {4}, {5}, {6});\n", tensor.name,
      name_of(tensor.type), tensor.count, bound.snr_db && !exact ? literal(*bound.snr_db) : "-INFINITY",
      exact                      ? "0"
      : bound.atol || bound.rtol ? literal(bound.atol.value_or(0))
                                 : "INFINITY",
      exact ? "0" : literal(bound.rtol.value_or(0)), exact ? literal(bound.mismatches.value_or(0)) : "0");
}

constexpr std::string_view kChecker = R"cpp(
  // Signal to noise at least `snr_db`, every element within atol + rtol * |expected| but for a fraction.
  bool check(const char* name, const void* got, double (*decode)(const void*, int64_t),
             const double* expected, int64_t count, double snr_db, double atol, double rtol,
             double mismatches) {
    double signal = 0, noise = 0;
    int64_t beyond = 0, first = -1;
    for (int64_t i = 0; i < count; ++i) {
      const double value = decode(got, i), error = value - expected[i];
      if (value == expected[i] || (std::isnan(value) && std::isnan(expected[i]))) {
        if (std::isfinite(value)) signal += value * value;
        continue;
      }
      signal += expected[i] * expected[i];
      noise += error * error;
      if (!(std::fabs(error) <= atol + rtol * std::fabs(expected[i]))) {
        if (first < 0) first = i;
        ++beyond;
      }
    }
    const double snr = noise == 0 ? INFINITY : 10 * std::log10(signal / noise);
    const bool right = snr >= snr_db && (double)beyond <= mismatches * (double)count;
    std::printf("%s: %s, %.1f dB against fp64", name, right ? "right" : "WRONG", snr);
    if (!right && first >= 0)
      std::printf("; element %lld is %g, expected %g", (long long)first, decode(got, first), expected[first]);
    std::printf("\n");
    return right;
  }
)cpp";

std::string buffer(const TestTensor& tensor) {
  const auto bytes = storage_bytes(tensor.type, tensor.count).count;
  std::string out = fmt::format("  void* {} = memory({});\n", tensor.name, bytes);
  if (tensor.role == TensorRole::output)
    return out + fmt::format("  memset({}, 0xff, {});\n", tensor.name, bytes);
  return out + fmt::format("  read({}, {});\n", tensor.name, bytes);
}

}  // namespace

std::string export_test_source(const Problem& problem, const Shape& shape,
                               const std::vector<TestTensor>& tensors,
                               const std::vector<std::string>& arguments) {
  std::string out = fmt::format(
      "// One run of {0}_run on {1}, held against fp64 values from test_data.bin.\n"
      "#include <cmath>\n#include <cstdint>\n#include <cstdio>\n#include <cstdlib>\n#include <cstring>\n\n"
      "#include \"{0}.h\"\n\nnamespace {{\n",
      problem.name, shape.label);
  std::vector<ScalarType> decoded;
  for (const TestTensor& tensor : tensors) {
    if (tensor.role == TensorRole::input) continue;
    if (std::find(decoded.begin(), decoded.end(), tensor.type) == decoded.end()) {
      out += decoder(tensor.type);
      decoded.push_back(tensor.type);
    }
  }
  out += kChecker;
  out +=
      "\nvoid* memory(size_t bytes) {\n"
      "  void* block = std::aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);\n"
      "  if (!block) { std::perror(\"memory\"); std::exit(2); }\n  return block;\n}\n"
      "FILE* data;\n"
      "void read(void* into, size_t bytes) {\n"
      "  if (bytes && std::fread(into, bytes, 1, data) != 1) { std::perror(\"test_data.bin\"); std::exit(2); "
      "}\n}\n"
      "}  // namespace\n\nint main() {\n"
      "  data = std::fopen(\"test_data.bin\", \"rb\");\n"
      "  if (!data) { std::perror(\"test_data.bin\"); return 2; }\n";
  for (std::size_t i = 0; i < problem.dims.size(); ++i)
    out += fmt::format("  const int64_t {} = {};\n", problem.dims[i].name, shape.dims[i]);
  for (const Scalar& scalar : problem.scalars) {
    const bool narrow =
        scalar.type == ScalarType::f16 || scalar.type == ScalarType::bf16 || storage_bits(scalar.type) < 16;
    if (class_of(scalar.type) == NumberClass::real && narrow)  // as its bits
      out += fmt::format("  const uint16_t {} = {};\n", scalar.name, encode(scalar.type, scalar.value));
    else
      out += fmt::format("  const auto {} = {};\n", scalar.name, literal(scalar.value));
  }
  for (const TestTensor& tensor : tensors) out += buffer(tensor);
  for (const TestTensor& tensor : tensors) {
    if (tensor.role == TensorRole::input) continue;
    out += fmt::format(
        "  double* expected_{0} = (double*)memory({1} * sizeof(double));\n"
        "  read(expected_{0}, {1} * sizeof(double));\n",
        tensor.name, tensor.count);
  }
  out += fmt::format(
      "  if ({}_run({})) {{\n    std::puts(\"out of memory\");\n    return 2;\n  }}\n  int failures = 0;\n",
      problem.name, fmt::join(arguments, ", "));
  for (const TestTensor& tensor : tensors)
    if (tensor.role != TensorRole::input) out += check_call(tensor);
  return out + "  return failures ? 1 : 0;\n}\n";
}

}  // namespace ako
