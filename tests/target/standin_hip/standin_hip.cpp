// SPDX-License-Identifier: Apache-2.0
// A stand-in for libamdhip64.so: the part of the module interface that ako uses, in host memory, so that the
// HIP path runs where there is no AMD GPU. It proves the calls, not the results of any GPU.
//
// A code object is a shared library; kernel NAME is its function
//   void launch_NAME(const int* grid, const int* block, size_t shared, int order, void** arguments)
// which runs the whole grid. An int named standin_status_NAME, if there is one, is what the device says after
// NAME was launched: 700 for an illegal address, 600 for a kernel that never ends. Times are those of the
// host.
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

namespace {

enum Status {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kInvalidImage = 200,
  kNotFound = 500,
  kNotReady = 600
};

constexpr std::size_t kMemory = std::size_t{4} << 30;

struct Kernel {
  void (*launch)(const int*, const int*, std::size_t, int, void**);
  const int* status;
};
struct Event {
  std::chrono::steady_clock::time_point at;
};

struct State {
  int sticky = 0;  // of the context
  std::size_t used = 0;
  std::map<void*, std::size_t> sizes;
};
State& state() {
  static State one;
  return one;
}

int answer(int status) {
  return state().sticky != 0 && state().sticky != kNotReady ? state().sticky : status;
}

// One byte more than all code objects have: the size of an image is in its ELF header (end of the section
// table).
std::size_t image_size(const unsigned char* image) {
  if (std::memcmp(image, "\177ELF", 4) != 0) return 0;
  unsigned long long table;
  unsigned short entry, count;
  std::memcpy(&table, image + 40, 8);
  std::memcpy(&entry, image + 58, 2);
  std::memcpy(&count, image + 60, 2);
  return table + std::size_t{entry} * count;
}

}  // namespace

extern "C" {

int hipInit(unsigned) { return kSuccess; }
int hipDriverGetVersion(int* version) { return *version = 70000000, kSuccess; }
int hipGetDeviceCount(int* count) {
  const char* wanted = std::getenv("STANDIN_DEVICES");
  return *count = wanted ? std::atoi(wanted) : 1, kSuccess;
}
int hipDeviceGet(int* device, int ordinal) { return *device = ordinal, kSuccess; }
int hipDeviceGetName(char* name, int size, int) {
  return std::snprintf(name, size, "Stand-in for an AMD GPU"), kSuccess;
}
int hipDeviceTotalMem(std::size_t* size, int) { return *size = kMemory, kSuccess; }
int hipDeviceGetPCIBusId(char* bus, int size, int device) {
  return std::snprintf(bus, size, "0000:%02x:00.0", device), kSuccess;
}
int hipDeviceGetAttribute(int* value, int attribute, int) {
  static const std::map<int, int> values = {{63, 2},       {87, 64},       {56, 1024},  {57, 2048},
                                            {74, 65536},   {10002, 65536}, {72, 65536}, {5, 2100000},
                                            {60, 1300000}, {59, 8192},     {19, 65536}, {0, 1}};
  auto found = values.find(attribute);
  if (found == values.end()) return kInvalidValue;
  return *value = found->second, kSuccess;
}
int hipGetDevicePropertiesR0600(void* properties, int) {
  std::memset(properties, 0, 1472);
  std::strcpy(static_cast<char*>(properties), "Stand-in for an AMD GPU");
  std::strcpy(static_cast<char*>(properties) + 1160, "gfx942:sramecc+:xnack-");
  return kSuccess;
}
int hipSetDevice(int) { return kSuccess; }
const char* hipGetErrorName(int status) {
  switch (status) {
    case 700:
      return "hipErrorIllegalAddress";
    case kInvalidImage:
      return "hipErrorInvalidImage";
    case kNotFound:
      return "hipErrorNotFound";
    case kOutOfMemory:
      return "hipErrorOutOfMemory";
    default:
      return "hipErrorUnknown";
  }
}
const char* hipGetErrorString(int) { return "said by the stand-in"; }

int hipMemGetInfo(std::size_t* available, std::size_t* total) {
  *total = kMemory;
  *available = kMemory - state().used;
  return answer(kSuccess);
}
int hipMalloc(void** memory, std::size_t size) {
  if (state().used + size > kMemory) return kOutOfMemory;
  *memory = std::aligned_alloc(256, (size + 255) / 256 * 256);
  if (!*memory) return kOutOfMemory;
  state().sizes[*memory] = size;
  state().used += size;
  return answer(kSuccess);
}
int hipFree(void* memory) {
  auto found = state().sizes.find(memory);
  if (found == state().sizes.end()) return kInvalidValue;
  state().used -= found->second;
  state().sizes.erase(found);
  std::free(memory);
  return answer(kSuccess);
}
int hipMemcpyHtoDAsync(void* to, const void* from, std::size_t size, void*) {
  return std::memcpy(to, from, size), answer(kSuccess);
}
int hipMemcpyDtoHAsync(void* to, void* from, std::size_t size, void*) {
  return std::memcpy(to, from, size), answer(kSuccess);
}
int hipMemcpyDtoDAsync(void* to, void* from, std::size_t size, void*) {
  return std::memcpy(to, from, size), answer(kSuccess);
}
int hipMemsetD32Async(void* to, int word, std::size_t count, void*) {
  for (std::size_t i = 0; i < count; ++i) std::memcpy(static_cast<char*>(to) + 4 * i, &word, 4);
  return answer(kSuccess);
}
int hipHostRegister(void*, std::size_t, unsigned) { return kSuccess; }
int hipHostUnregister(void*) { return kSuccess; }

int hipModuleLoadData(void** module, const void* image) {
  std::size_t size = image_size(static_cast<const unsigned char*>(image));
  if (size == 0) return kInvalidImage;
  int file = memfd_create("standin", 0);
  if (write(file, image, size) != static_cast<ssize_t>(size)) return kInvalidImage;
  // The loader takes a name it has seen before for the same library: every image gets a name of its own.
  static std::size_t images = 0;
  std::string path = "/proc/self/fd/" + std::string(images++ % 1000, '/') + std::to_string(file);
  *module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!*module) std::fprintf(stderr, "stand-in: %s\n", dlerror());
  close(file);
  return *module ? answer(kSuccess) : kInvalidImage;
}
int hipModuleUnload(void* module) { return dlclose(module), answer(kSuccess); }
int hipModuleGetFunction(void** kernel, void* module, const char* name) {
  void* launch = dlsym(module, (std::string("launch_") + name).c_str());
  if (!launch) return kNotFound;
  auto* status = static_cast<const int*>(dlsym(module, (std::string("standin_status_") + name).c_str()));
  // Lives as long as the process: there are few.
  *kernel = new Kernel{reinterpret_cast<decltype(Kernel::launch)>(launch), status};
  return answer(kSuccess);
}
int hipFuncGetAttribute(int* value, int attribute, void*) {
  return *value = attribute == 0 ? 1024 : 0, kSuccess;
}
int hipModuleLaunchKernel(void* kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                          unsigned bz, unsigned shared, void*, void** parameters, void**) {
  auto* one = static_cast<Kernel*>(kernel);
  if (state().sticky) return answer(kSuccess);
  const int grid[3] = {int(gx), int(gy), int(gz)}, block[3] = {int(bx), int(by), int(bz)};
  if (one->status)
    state().sticky = *one->status;
  else
    one->launch(grid, block, shared, 1, parameters);
  return kSuccess;
}
int hipStreamCreateWithFlags(void** stream, unsigned) { return *stream = &state(), kSuccess; }
int hipStreamDestroy(void*) { return kSuccess; }
int hipStreamQuery(void*) { return state().sticky; }
int hipEventCreateWithFlags(void** event, unsigned) { return *event = new Event, kSuccess; }
int hipEventDestroy(void* event) { return delete static_cast<Event*>(event), kSuccess; }
int hipEventRecord(void* event, void*) {
  static_cast<Event*>(event)->at = std::chrono::steady_clock::now();
  return answer(kSuccess);
}
int hipEventElapsedTime(float* milliseconds, void* start, void* end) {
  std::chrono::duration<float, std::milli> took =
      static_cast<Event*>(end)->at - static_cast<Event*>(start)->at;
  return *milliseconds = took.count(), kSuccess;
}
/// The stand-in's own: forgets what a kernel did to the context, as a new process would.
void standin_reset() { state().sticky = 0; }

}  // extern "C"
