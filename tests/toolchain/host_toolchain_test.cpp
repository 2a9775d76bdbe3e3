// SPDX-License-Identifier: Apache-2.0
#include "toolchain/host/host_toolchain.h"

#include <dlfcn.h>

#include "toolchain/candidates_fixture.h"
#include "toolchain/host/elf_symbols.h"

namespace ako {
namespace {
using testing::host_facts;
using testing::scale_candidate;
using testing::scale_problem;
using testing::scale_source;
using HostToolchainTest = testing::RealToolchain;

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST_F(HostToolchainTest, BuildsWhatTheUniformEntryCalls) {
  Artifact artifact = built(scale_candidate());
  void* library = ::dlopen(artifact.code.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << ::dlerror();
  auto entry = reinterpret_cast<void (*)(void**)>(::dlsym(library, "ako_call_scale"));
  ASSERT_NE(entry, nullptr);
  float x[3] = {1, 2, 3}, y[3] = {}, a = 4;
  void *in = x, *out = y;
  std::int64_t n = 3;
  void* arguments[] = {&in, &out, &a, &n};
  entry(arguments);
  EXPECT_EQ(y[2], 12);
  ::dlclose(library);
}

TEST_F(HostToolchainTest, SaysWhatItMade) {
  Candidate candidate = scale_candidate();
  Artifact artifact = built(candidate);
  EXPECT_EQ(artifact.candidate, candidate.id());
  EXPECT_EQ(artifact.target, "host");
  EXPECT_EQ(artifact.symbols, std::vector<std::string>{"scale"});
  EXPECT_EQ(artifact.code_hash, hash_text(read_file(artifact.code).value()));
  EXPECT_GT(artifact.resources.values.at("code_bytes"), 0);
  EXPECT_GT(artifact.compile_seconds, 0);
  EXPECT_FALSE(artifact.cached);
  EXPECT_FALSE(artifact.compiler.empty());
  EXPECT_EQ(artifact.log, "");
}

TEST_F(HostToolchainTest, ExportsOnlyTheUniformEntry) {
  auto symbols = elf_symbols(read_file(built(scale_candidate()).code).value());
  ASSERT_TRUE(symbols);
  EXPECT_EQ(symbols->exported, std::set<std::string>{"ako_call_scale"});
  EXPECT_TRUE(symbols->defined.contains("scale"));
}

TEST_F(HostToolchainTest, KeepsWarningsInTheLog) {
  Artifact artifact = built(
      scale_candidate("extern \"C\" void scale(const float*, float* y, float, long) { int u; y[0] = u; }"));
  EXPECT_TRUE(contains(artifact.log, "scale.cpp:1:")) << artifact.log;
}

TEST_F(HostToolchainTest, CompilesEachThingOnce) {
  Artifact first = built(scale_candidate()), second = built(scale_candidate());
  EXPECT_EQ(compilations_, 1);
  EXPECT_EQ(second.code_hash, first.code_hash);
  EXPECT_TRUE(second.cached);
  EXPECT_EQ(second.compile_seconds, 0);
}

TEST_F(HostToolchainTest, CompilesAgainWhatWasDamaged) {
  Artifact first = built(scale_candidate());
  std::string code = read_file(first.code).value();
  code[code.size() / 2] ^= 1;
  ASSERT_TRUE(write_file(first.code, code));
  Artifact second = built(scale_candidate());
  EXPECT_EQ(compilations_, 2);
  EXPECT_EQ(second.code_hash, hash_text(read_file(second.code).value()));
}

TEST_F(HostToolchainTest, CompilesAgainForAnotherProcessor) {
  HostToolchain toolchain(find_compiler().value(), options_);
  TargetFacts other = host_facts();
  other.features = {"avx512f"};
  ASSERT_TRUE(toolchain.build(scale_candidate(), scale_problem(), host_facts()));
  ASSERT_TRUE(toolchain.build(scale_candidate(), scale_problem(), other));
  EXPECT_EQ(compilations_, 2);
}

TEST_F(HostToolchainTest, PassesTunablesAndFlags) {
  Candidate candidate = scale_candidate(R"(
static_assert(UNROLL == 4 && OTHER == 1);
#ifndef __FAST_MATH__
#error not fast
#endif
extern "C" void scale(const float*, float*, float, long) {}
)");
  candidate.plan.tunables = {{"UNROLL", {2, 4}}, {"OTHER", {1}}};
  candidate.tunables = {{"UNROLL", 4}};
  candidate.flags = {"-ffast-math"};
  built(candidate);
}

TEST_F(HostToolchainTest, CompilesSeveralSourcesAndTheirHeaders) {
  Candidate candidate = scale_candidate(
      "#include \"part/twice.h\"\nextern \"C\" void scale(const float* x, float* y, float, "
      "long) { y[0] = twice(x[0]); }");
  candidate.sources.push_back({"part/twice.h", "float twice(float);\n"});
  candidate.sources.push_back(
      {"part/twice.cc", "#include \"twice.h\"\nfloat twice(float x) { return 2 * x; }\n"});
  built(candidate);
}

TEST_F(HostToolchainTest, OffersTheGuestHeader) {
  built(scale_candidate(
      "#include \"ako/kernel.h\"\nextern \"C\" void scale(const float* x, float* y, float, long) {"
      " y[0] = ako::bf16(x[0]); }"));
}

TEST_F(HostToolchainTest, ShowsErrorsUnderTheCandidatesOwnFileNames) {
  std::string log = log_of("extern \"C\" void scale() { int x = \"\"; }\n");
  EXPECT_TRUE(log.starts_with("scale.cpp:") && contains(log, "scale.cpp:1:")) << log;
  EXPECT_FALSE(contains(log, "/tmp") || contains(log, "ako_call") || contains(log, AKO_SOURCE_DIR)) << log;
}

TEST_F(HostToolchainTest, ExplainsAKernelWithoutCLinkage) {
  std::string log = log_of("void scale(const float*, float*, float, long) {}\n");
  EXPECT_EQ(log,
            "error: the plan launches 'scale', but no source defines a function of this name with C linkage\n"
            "  help: define it as extern \"C\" void scale(const float* x, float* y, float a, int64_t N)\n");
}

TEST_F(HostToolchainTest, NamesAFunctionThatIsNowhere) {
  EXPECT_EQ(
      log_of(
          "void gone(float);\nextern \"C\" void scale(const float* x, float*, float, long) { gone(*x); }\n"),
      "error: 'gone(float)' is used by 'scale' but defined in no source and no library\n");
}

TEST_F(HostToolchainTest, TakesNoKernelFromTheCLibrary) {
  Candidate candidate = scale_candidate();
  candidate.plan.launches[0].kernel = "memmove";
  EXPECT_TRUE(contains(failed(candidate).log, "the plan launches 'memmove', but no source defines"));
}

TEST_F(HostToolchainTest, CutsFloods) {
  std::string source = "#include <map>\n#include <string>\n";
  for (int i = 0; i < 20; ++i)
    source += "auto x" + std::to_string(i) + " = std::map<std::string, int>{} < 3;\n";
  std::string log = log_of(source);
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 61);
  EXPECT_TRUE(contains(log, "more lines")) << log;
}

TEST_F(HostToolchainTest, StopsACompilerBomb) {
  options_.wall_limit = Seconds(1);
  CompileFailure failure = failed(scale_candidate(
      "template<int A, int B> struct T { static constexpr long v = T<A - 1, B>::v + T<A - 1, B + (1 << (A % "
      "30))>::v; };\n"
      "template<int B> struct T<0, B> { static constexpr long v = B; };\nlong x = T<28, 0>::v;\n"));
  EXPECT_TRUE(failure.timed_out) << failure.log;
  EXPECT_TRUE(contains(failure.log, "took longer than")) << failure.log;
}

TEST_F(HostToolchainTest, StopsEndlessInclusion) {
  std::string log = log_of("#include \"scale.cpp\"\n");
  EXPECT_TRUE(contains(log, "nested")) << log;
}

TEST_F(HostToolchainTest, RefusesAnEnormousObject) {
  options_.largest_code = mebibytes(1);
  EXPECT_TRUE(
      contains(log_of(std::string("int big[1 << 20] = {1};\n") + std::string(scale_source)), "at most 1"));
}

TEST_F(HostToolchainTest, RefusesFlagsBeforeCompiling) {
  Candidate candidate = scale_candidate();
  candidate.flags = {"-fplugin=x.so"};
  EXPECT_TRUE(contains(failed(candidate).log, "'-fplugin=x.so' is not allowed"));
  EXPECT_EQ(compilations_, 0);
}

TEST_F(HostToolchainTest, RefusesAPlanThatDoesNotFitTheProblem) {
  Candidate candidate = scale_candidate();
  candidate.plan.launches[0].args = {"x", "z"};
  EXPECT_TRUE(contains(failed(candidate).log, "'z'"));
  EXPECT_EQ(compilations_, 0);
}

class Secrets : public testing::RealToolchain {
 protected:
  void SetUp() override {
    if (!confinement().namespaces) GTEST_SKIP() << "no confinement here: " << confinement().missing;
    ASSERT_TRUE(write_file(folder_.path() / "secret.txt", "int open_sesame;"));
    path_ = (folder_.path() / "secret.txt").string();
  }
  std::string path_;
};

TEST_F(Secrets, CannotBeIncluded) {
  std::string log = log_of("#include \"" + path_ + "\"\n#include \"/etc/passwd\"\n");
  EXPECT_FALSE(contains(log, "sesame") || contains(log, "root:")) << log;
  EXPECT_TRUE(contains(log, "No such file") || contains(log, "file not found")) << log;
}

TEST_F(Secrets, CannotBeAssembledIn) {
  std::string log = log_of("asm(\".incbin \\\"" + path_ + "\\\"\");\n" + std::string(scale_source));
  EXPECT_TRUE(contains(log, "file not found") || contains(log, "Could not find incbin file")) << log;
}

TEST_F(HostToolchainTest, ReportsItsOwnTroubleAsAnError) {
  options_.run = [](const Command&, const Policy&) -> Result<Exit> {
    return fail(ErrorKind::unavailable, "no more processes");
  };
  HostToolchain toolchain(find_compiler().value(), options_);
  auto result = toolchain.build(scale_candidate(), scale_problem(), host_facts());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::unavailable);
}

TEST_F(HostToolchainTest, DoesNotFollowALinkThatTheCompilerLeft) {
  options_.run = [](const Command& command, const Policy&) -> Result<Exit> {
    std::filesystem::create_symlink("/etc/passwd", command.folder / "-ako/code.so");
    return Exit{};
  };
  EXPECT_TRUE(contains(failed(scale_candidate()).log, "left no code"));
}

TEST(Toolchains, BuildForTheHost) {
  auto toolchains = find_toolchains();
  ASSERT_TRUE(choose_toolchain(toolchains, Language::cpp, "host"));
  auto none = choose_toolchain(toolchains, Language::flydsl, "gfx950");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::unsupported);
}

TEST(Toolchains, SayWhichCompilerIsMissing) {
  ::setenv("AKO_CXX", "no-such-compiler", 1);
  auto toolchains = find_toolchains();
  auto none = choose_toolchain(toolchains, Language::cpp, "host");
  ::unsetenv("AKO_CXX");
  ASSERT_FALSE(none);
  EXPECT_TRUE(contains(none.error().what, "there is no compiler no-such-compiler")) << none.error().what;
  EXPECT_TRUE(contains(none.error().advice, "apt-get install g++"));
}

}  // namespace
}  // namespace ako
