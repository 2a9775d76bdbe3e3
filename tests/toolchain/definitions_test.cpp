// SPDX-License-Identifier: Apache-2.0
#include "toolchain/host/definitions.h"

#include <gtest/gtest.h>

namespace ako {
namespace {

const KernelSignature kernel{"scale",
                             {"void*", "void*", "float", "int64_t"},
                             {"x", "y", "a", "N"},
                             {"const float*", "float*", "float", "int64_t"}};

std::optional<std::string> mismatch(const std::string& source) {
  std::vector<SourceFile> sources{{"scale.cpp", source}};
  auto found = find_definition(sources, "scale");
  return found ? signature_mismatch(kernel, *found) : std::nullopt;
}
bool says(const std::optional<std::string>& text, std::string_view part) {
  return text && text->find(part) != std::string::npos;
}

TEST(Definitions, LetFittingKernelsPass) {
  for (const char* fine : {
           "extern \"C\" void scale(const float* x, float* y, float a, int64_t N) {}",
           "extern \"C\" void scale(const float *__restrict x, float y[], float, std::int64_t) noexcept {}",
           "extern \"C\" {\nvoid scale(const V<4, 2>* x, out_t* y, real a, int n) {\n}\n}",
           "// void scale(int) {\nextern \"C\" void scale(const float* x, float* y, float a, long N)\n{ "
           "scale2(); }",
           "static void scale_row(float* y) {}\nextern \"C\" void scale(void*, void*, float, size_t) {}",
       })
    EXPECT_EQ(mismatch(fine), std::nullopt) << fine;
}

TEST(Definitions, AreHeldAgainstTheNumberOfArguments) {
  auto text = mismatch("#include <x>\n\nextern \"C\" void scale(const float* x, float* y, int64_t N) {}");
  EXPECT_TRUE(says(text, "scale.cpp:3: error: 'scale' takes 3 parameters, and the plan passes 4")) << *text;
  EXPECT_TRUE(says(text, "{kernel: scale, args: [x, y, a, N]}")) << *text;
  EXPECT_TRUE(says(text, "void scale(const float* x, float* y, float a, int64_t N)")) << *text;
}

TEST(Definitions, AreHeldAgainstPointersAndScalars) {
  EXPECT_TRUE(says(mismatch("void scale(const float* x, float* y, int64_t N, float a) {}"),
                   "parameter 3 of 'scale', 'int64_t N', is an integer, and the plan passes a float ('a')"));
  EXPECT_TRUE(says(mismatch("void scale(const float* x, float a, float* y, int64_t N) {}"), "parameter 2"));
  EXPECT_TRUE(says(mismatch("void scale(const float* x, float* y, double a, int64_t N) {}"), "is a double"));
}

TEST(Definitions, SayNothingWhereTheSourceIsNotClear) {
  EXPECT_EQ(mismatch("#if A\nvoid scale(int a) {}\n#else\nvoid scale(float b) {}\n#endif"), std::nullopt);
  EXPECT_EQ(mismatch("KERNEL(scale, float* x) {}"), std::nullopt);
  EXPECT_EQ(mismatch("void scale(int);"), std::nullopt);
}

}  // namespace
}  // namespace ako
