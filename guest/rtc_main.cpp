// SPDX-License-Identifier: Apache-2.0
// A compile guest: one run-time compiler library (NVRTC or hipRTC, whose interfaces differ in their prefix),
// one source.
//
//   ako-guest-rtc nvrtc|hiprtc LIBRARY version
//   ako-guest-rtc nvrtc|hiprtc LIBRARY compile SOURCE OUTPUT OPTION…
//
// `version` prints "MAJOR.MINOR" and, where the library tells, the architectures it knows, on one line.
// `compile` writes the code object to OUTPUT and the compiler's messages to standard error. Exit status: 0
// well, 1 the source does not compile, 3 the library failed.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int source_is_wrong = 1, library_failed = 3;

int complain(const char* what, const char* detail) {
  std::fprintf(stderr, "ako-guest-rtc: %s: %s\n", what, detail ? detail : "unknown");
  return library_failed;
}

struct Library {
  void* handle = nullptr;
  std::string prefix;

  template <class Function>
  bool find(const char* name, Function& out) const {
    out = reinterpret_cast<Function>(::dlsym(handle, (prefix + name).c_str()));
    return out != nullptr;
  }
};

using Program = void*;
using Status = int;                      // 0: well
constexpr Status compilation_error = 6;  // NVRTC_ERROR_COMPILATION, HIPRTC_ERROR_COMPILATION

int print_version(const Library& library) {
  Status (*version)(int*, int*) = nullptr;
  Status (*count_architectures)(int*) = nullptr;
  Status (*architectures)(int*) = nullptr;
  int major = 0, minor = 0, count = 0;
  if (!library.find("Version", version) || version(&major, &minor) != 0)
    return complain("no version", ::dlerror());
  std::printf("%d.%d", major, minor);
  if (library.find("GetNumSupportedArchs", count_architectures) && count_architectures(&count) == 0 &&
      count > 0 && library.find("GetSupportedArchs", architectures)) {
    std::vector<int> all(static_cast<std::size_t>(count));
    if (architectures(all.data()) == 0)
      for (int each : all) std::printf(" %d", each);
  }
  std::printf("\n");
  return 0;
}

bool read_whole(const char* path, std::string& out) {
  std::FILE* file = std::fopen(path, "rb");
  if (!file) return false;
  char buffer[1 << 16];
  for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, file)) > 0;) out.append(buffer, got);
  bool fine = std::ferror(file) == 0;
  std::fclose(file);
  return fine;
}

bool write_whole(const char* path, const std::vector<char>& content) {
  std::FILE* file = std::fopen(path, "wb");
  if (!file) return false;
  bool fine = std::fwrite(content.data(), 1, content.size(), file) == content.size();
  return std::fclose(file) == 0 && fine;
}

void print_log(const Library& library, Program program) {
  Status (*size_of)(Program, std::size_t*) = nullptr;
  Status (*get)(Program, char*) = nullptr;
  std::size_t size = 0;
  if (!library.find("GetProgramLogSize", size_of) || !library.find("GetProgramLog", get)) return;
  if (size_of(program, &size) != 0 || size <= 1) return;
  std::string log(size, '\0');
  if (get(program, log.data()) == 0) std::fprintf(stderr, "%s\n", log.c_str());
}

int compile(const Library& library, const char* source_path, const char* output,
            const std::vector<const char*>& options) {
  Status (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  Status (*build)(Program, int, const char* const*) = nullptr;
  Status (*code_size)(Program, std::size_t*) = nullptr;
  Status (*code)(Program, char*) = nullptr;
  bool cuda = library.prefix == "nvrtc";
  if (!library.find("CreateProgram", create) || !library.find("CompileProgram", build) ||
      !library.find(cuda ? "GetCUBINSize" : "GetCodeSize", code_size) ||
      !library.find(cuda ? "GetCUBIN" : "GetCode", code))
    return complain("a function is missing", ::dlerror());

  std::string source;
  if (!read_whole(source_path, source)) return complain("cannot read the source", source_path);
  Program program = nullptr;
  if (create(&program, source.c_str(), source_path, 0, nullptr, nullptr) != 0)
    return complain("cannot begin", source_path);
  Status status = build(program, static_cast<int>(options.size()), options.data());
  print_log(library, program);
  if (status == compilation_error) return source_is_wrong;
  if (status != 0) return complain("the compiler failed with status", std::to_string(status).c_str());
  std::size_t size = 0;
  if (code_size(program, &size) != 0 || size == 0)
    return complain("no code", "compiled for no real architecture");
  std::vector<char> content(size);
  if (code(program, content.data()) != 0) return complain("no code", source_path);
  return write_whole(output, content) ? 0 : complain("cannot write", output);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return complain("usage", "nvrtc|hiprtc LIBRARY version | compile SOURCE OUTPUT OPTION…");
  Library library{::dlopen(argv[2], RTLD_NOW | RTLD_LOCAL), argv[1]};
  if (!library.handle) return complain("cannot open the library", ::dlerror());
  if (std::strcmp(argv[3], "version") == 0) return print_version(library);
  if (std::strcmp(argv[3], "compile") != 0 || argc < 6) return complain("unknown request", argv[3]);
  return compile(library, argv[4], argv[5], {argv + 6, argv + argc});
}
