// SPDX-License-Identifier: Apache-2.0
// The library is not linked but loaded into the guest before the kernel, whose calls the dynamic loader then
// finds there: compiling needs neither the library nor a flag that candidates may not use. The declaration is
// weak because the linker refuses shared objects with other undefined symbols.
#include "judge/library_openblas.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <thread>

#include "judge/library_product.h"
#include "target/host/run_guest_libraries.h"

namespace ako {
namespace fs = std::filesystem;
namespace {

constexpr const char* kSymbol = "library_product";

/// Writes the problem as one call, or a loop of them. Sizes arrive as arguments n0, n1 …, one per index.
class CallWriter {
 public:
  CallWriter(const Problem& problem, const MatrixProduct& product)
      : product_(product),
        double_(problem.tensor(product.c.tensor).type == ScalarType::f64),
        real_(double_ ? "double" : "float") {}

  std::string source() const {
    std::string text = fmt::format(
        "// The problem as OpenBLAS computes it. Constants of the C interface to the BLAS: 101 row-major,\n"
        "// 111 as stored, 112 transposed.\n"
        "#include <cstdint>\n\n{}\nextern \"C\" void {}(const {}* a, const {}* b, {}* c{}) {{\n",
        declaration(), kSymbol, real_, real_, real_, sizes());
    std::string indent = "  ";
    for (int index : product_.batch) {
      text += fmt::format("{}for (int64_t i{} = 0; i{} < n{}; ++i{})\n", indent, index, index, index, index);
      indent += "  ";
    }
    return text + indent + call() + "\n}\n";
  }

 private:
  using Operand = MatrixProduct::Operand;

  bool is_vector() const { return !product_.rows || !product_.columns; }

  std::string declaration() const {
    constexpr std::string_view vector =
        "gemv(int order, int transposed, int m, int n, {0} alpha,\n"
        "    const {0}* a, int lda, const {0}* x, int incx, {0} beta, {0}* y, int incy);\n";
    constexpr std::string_view matrix =
        "gemm(int order, int a_transposed, int b_transposed, int m, int n, int k,\n"
        "    {0} alpha, const {0}* a, int lda, const {0}* b, int ldb, {0} beta, {0}* c, int ldc);\n";
    return fmt::format("extern \"C\" __attribute__((weak)) void cblas_{}", double_ ? 'd' : 's') +
           fmt::format(fmt::runtime(is_vector() ? vector : matrix), real_);
  }

  std::string sizes() const {
    std::string text;
    for (std::size_t i = 0; i < product_.extents.size(); ++i)
      if (!product_.extents[i].empty()) text += fmt::format(", int64_t n{}", i);
    return text;
  }

  /// Elements from one value of the index to the next.
  std::string stride(const Operand& operand, int index) const {
    std::string text;
    auto at = std::find(operand.axes.begin(), operand.axes.end(), index);
    for (++at; at < operand.axes.end(); ++at) text += fmt::format("{}n{}", text.empty() ? "" : " * ", *at);
    return text.empty() ? "1" : text;
  }

  std::string pointer(const Operand& operand, std::string_view name) const {
    std::string text(name);
    for (int index : product_.batch) text += fmt::format(" + i{} * {}", index, stride(operand, index));
    return text;
  }

  static std::string as_int(const std::string& value) { return fmt::format("static_cast<int>({})", value); }
  static std::string size(int index) { return as_int(fmt::format("n{}", index)); }
  /// Of a matrix, which is innermost in one of its two axes.
  std::string leading(const Operand& operand, int first, int second) const {
    return as_int(stride(operand, operand.is_innermost(first) ? second : first));
  }

  std::string call() const { return is_vector() ? vector_call() : matrix_call(); }

  /// A result whose rows are innermost is the transpose of the product of the transposed operands, in the
  /// other order.
  std::string matrix_call() const {
    bool swapped = product_.c.is_innermost(*product_.rows);
    int m = *product_.rows, n = *product_.columns, k = product_.depth;
    const Operand *left = &product_.a, *right = &product_.b;
    const char *left_name = "a", *right_name = "b";
    if (swapped) {
      std::swap(m, n);
      std::swap(left, right);
      std::swap(left_name, right_name);
    }
    return fmt::format("cblas_{}gemm(101, {}, {}, {}, {}, {}, 1, {}, {}, {}, {}, 0, {}, {});",
                       double_ ? 'd' : 's', left->is_innermost(k) ? 111 : 112,
                       right->is_innermost(n) ? 111 : 112, size(m), size(n), size(k),
                       pointer(*left, left_name), leading(*left, m, k), pointer(*right, right_name),
                       leading(*right, k, n), pointer(product_.c, "c"), leading(product_.c, m, n));
  }

  std::string vector_call() const {
    bool matrix_is_a = product_.rows.has_value();
    int r = matrix_is_a ? *product_.rows : *product_.columns, k = product_.depth;
    const Operand& matrix = matrix_is_a ? product_.a : product_.b;
    const Operand& vector = matrix_is_a ? product_.b : product_.a;
    bool stored = matrix.is_innermost(k);
    return fmt::format("cblas_{}gemv(101, {}, {}, {}, 1, {}, {}, {}, {}, 0, {}, {});", double_ ? 'd' : 's',
                       stored ? 111 : 112, size(stored ? r : k), size(stored ? k : r),
                       pointer(matrix, matrix_is_a ? "a" : "b"), leading(matrix, r, k),
                       pointer(vector, matrix_is_a ? "b" : "a"), as_int(stride(vector, k)),
                       pointer(product_.c, "c"), as_int(stride(product_.c, r)));
  }

  const MatrixProduct& product_;
  bool double_;
  std::string real_;
};

LaunchPlan plan_for(const Problem& problem, const MatrixProduct& product) {
  Launch launch;
  launch.kernel = kSymbol;
  for (const auto* operand : product.operands()) launch.args.push_back(problem.tensor(operand->tensor).name);
  for (const auto& factors : product.extents) {
    std::string text;
    for (ExprId factor : factors)
      text += fmt::format("{}({})", text.empty() ? "" : " * ", to_text(problem, factor));
    if (!text.empty()) launch.args.push_back(text);
  }
  LaunchPlan plan;
  plan.launches.push_back(std::move(launch));
  return plan;
}

/// The interface's sizes are 32-bit; a leading dimension is at most the elements of its tensor.
bool fits_interface(const Problem& problem, const MatrixProduct& product) {
  for (const Shape& shape : problem.shapes)
    for (const auto* operand : product.operands())
      if (element_count(problem, problem.tensor(operand->tensor), shape) > std::numeric_limits<int>::max())
        return false;
  return true;
}

bool is_blas_type(ScalarType type) { return type == ScalarType::f32 || type == ScalarType::f64; }

/// "OpenBLAS 0.3.21" from ".../libopenblasp-r0.3.21.so".
std::string version_of(const fs::path& file) {
  std::string stem = file.stem().string();
  auto at = stem.rfind("-r");
  return at == std::string::npos ? "OpenBLAS" : "OpenBLAS " + stem.substr(at + 2);
}

}  // namespace

Result<Candidate> OpenBlas::kernel(const Problem& problem) const {
  auto nothing = fail(ErrorKind::unsupported, "no library for this pattern",
                      "OpenBLAS is timed on plain products of f32 or f64 matrices");
  auto product = match_matrix_product(problem);
  if (!product) return nothing;
  ScalarType type = problem.tensor(product->c.tensor).type;
  bool same_types = std::ranges::all_of(product->operands(), [&](const auto* operand) {
    const Tensor& tensor = problem.tensor(operand->tensor);
    return tensor.type == type && !tensor.exact && tensor.role != TensorRole::temporary &&
           tensor.role != TensorRole::inout;
  });
  if (!is_blas_type(type) || !same_types || !fits_interface(problem, *product)) return nothing;
  Candidate candidate;
  candidate.sources = {{"library_product.cpp", CallWriter(problem, *product).source()}};
  candidate.plan = plan_for(problem, *product);
  return candidate;
}

Result<LibraryInstallation> OpenBlas::find(int threads) const {
  auto there = host::find_shared_library("libopenblas.so.0");
  if (!there)
    return fail(ErrorKind::unsupported, "OpenBLAS is not installed",
                "Debian and Ubuntu: apt install libopenblas0-pthread");
  std::error_code code;
  fs::path file = fs::canonical(*there, code);
  if (code) file = *there;
  if (threads <= 0) threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  LibraryInstallation found;
  found.version = fmt::format("{}, {} thread{}", version_of(file), threads, threads == 1 ? "" : "s");
  found.preload.files.push_back(file);
  // Its Fortran part is never called, but the loader wants the run-time library all the same.
  for (const char* needed : {"libgfortran.so.5", "libquadmath.so.0"})
    if (auto path = host::find_shared_library(needed)) found.preload.files.push_back(*path);
  found.preload.environment = {{"OPENBLAS_NUM_THREADS", std::to_string(threads)}};
  return found;
}

}  // namespace ako
