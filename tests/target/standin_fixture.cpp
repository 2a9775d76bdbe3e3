// SPDX-License-Identifier: Apache-2.0
#include "target/standin_fixture.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <regex>
#include <set>

#include "base/subprocess.h"

namespace ako::testing {
namespace {

constexpr const char* kHead = R"(#include "ako_device.h"
#include <utility>
namespace standin {
template <class... A, std::size_t... I>
void call_with(void (*f)(A...), void** a, std::index_sequence<I...>) { f(*static_cast<A*>(a[I])...); }
template <class... A>
void call_with(void (*f)(A...), void** a) { call_with(f, a, std::index_sequence_for<A...>{}); }
template <auto kernel>
void thread_of(void* a) { call_with(kernel, static_cast<void**>(a)); }
}
)";

std::string library() { return std::string(AKO_BINARY_DIR) + "/lib/libstandin_hip.so"; }

std::set<std::string> kernels_in(const std::string& source) {
  static const std::regex kernel(R"(AKO_KERNEL\([^)]*\)\s*(\w+)\()");
  std::set<std::string> names;
  for (std::sregex_iterator at(source.begin(), source.end(), kernel), end; at != end; ++at)
    names.insert((*at)[1]);
  return names;
}

}  // namespace

const gpu::Driver& standin_driver() {
  static const std::unique_ptr<gpu::Driver> driver = [] {
    ::setenv("AKO_HIP_LIBRARY", library().c_str(), 1);
    auto opened = gpu::Driver::open(gpu::Api::hip);
    if (!opened) {
      std::fprintf(stderr, "%s\n", to_text(opened.error()).c_str());
      std::abort();
    }
    return std::move(*opened);
  }();
  return *driver;
}

gpu::DeviceInfo standin_device() { return standin_driver().devices().value().front(); }

void reset_standin() {
  void* handle = ::dlopen(library().c_str(), RTLD_NOW | RTLD_NOLOAD);
  reinterpret_cast<void (*)()>(::dlsym(handle, "standin_reset"))();
}

StandinToolchain::StandinToolchain() : folder_(TemporaryFolder::create("standin").value()) {}

Result<std::string> standin_image(const std::string& source) {
  static std::map<std::string, std::string> made;
  if (auto found = made.find(source); found != made.end()) return found->second;
  std::string text = kHead + source;
  for (const auto& name : kernels_in(source))
    text += fmt::format(
        "extern \"C\" void launch_{0}(const int* grid, const int* block, std::size_t shared, int order, "
        "void** a) {{\n"
        "  ako::emulation::launch(grid, block, shared, order, &standin::thread_of<&{0}>, a);\n}}\n",
        name);
  AKO_TRY(auto folder, TemporaryFolder::create("standin"));
  AKO_CHECK(write_file(folder.path() / "kernel.cpp", text));
  Command command;
  command.argv = {"g++",
                  "-std=c++17",
                  "-O1",
                  "-w",
                  "-fPIC",
                  "-shared",
                  "-ffp-contract=off",
                  "-DAKO_WAVE=64",
                  std::string("-I") + AKO_SOURCE_DIR + "/guest/device",
                  (folder.path() / "kernel.cpp").string(),
                  "-o",
                  (folder.path() / "kernel.so").string()};
  AKO_TRY(auto done, run(command));
  if (!done.ok()) return fail(ErrorKind::invalid_input, done.errors);
  AKO_TRY(auto image, read_file(folder.path() / "kernel.so"));
  return made[source] = image;
}

Result<BuildResult> StandinToolchain::build(const Candidate& candidate, const Problem&,
                                            const TargetFacts& facts) {
  auto image = standin_image(candidate.sources.front().text);
  if (!image) return CompileFailure{image.error().what};
  Artifact artifact;
  artifact.id = artifact.candidate = candidate.id();
  artifact.target = facts.id;
  artifact.code = folder_.path() / (candidate.id().hex() + ".so");
  artifact.code_hash = hash_text(*image);
  AKO_CHECK(write_file(artifact.code, *image));
  return artifact;
}

}  // namespace ako::testing
