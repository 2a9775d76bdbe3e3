// SPDX-License-Identifier: Apache-2.0
#include "judge/fresh_inputs.h"

#include <algorithm>
#include <cstring>

#include "judge/parallel.h"

namespace ako {
namespace {

constexpr std::int64_t kPooled = 64 << 10;    // elements from which a pool pays
constexpr std::int64_t kLeastPool = 1 << 20;  // elements: many slots draw from the same pool

/// Elements are independent of each other and of their place: any window of many is as good as any other.
bool independent(const ValueSpec& values) {
  switch (values.distribution) {
    case Distribution::normal:
    case Distribution::uniform:
    case Distribution::integers:
      return true;
    default:
      return false;
  }
}

void copy_bytes(std::span<const std::byte> from, std::span<std::byte> to) {
  parallel_ranges(
      static_cast<std::int64_t>(to.size()), 4 << 20, [&](int, std::int64_t begin, std::int64_t end) {
        std::memcpy(to.data() + begin, from.data() + begin, static_cast<std::size_t>(end - begin));
      });
}

/// Bytes of the smallest whole number of elements: f6 packs four in three bytes.
std::int64_t unit_bytes(ScalarType type) {
  int bits = storage_bits(type);
  return bits == 6 ? 3 : std::max(bits / 8, 1);
}

}  // namespace

FreshInputs::FreshInputs(const Problem& problem, const Shape& shape, const Layout& layout, std::uint64_t seed)
    : problem_(problem), shape_(shape), layout_(layout), seed_(seed), random_(seed, 0x667265736821) {}

FreshInputs::Pool FreshInputs::make_pool(const TensorBuffer& tensor) {
  auto size = static_cast<std::size_t>(tensor.size.count);
  std::int64_t copies = std::max<std::int64_t>(2, (kLeastPool + tensor.count - 1) / tensor.count + 1);
  Pool pool;
  pool.unit = unit_bytes(tensor.type);
  pool.bytes.resize(static_cast<std::size_t>(copies) * size);
  for (std::int64_t i = 0; i < copies; ++i)
    generate_input(problem_, tensor.tensor, shape_, InputStyle::declared, seed_, stream_++,
                   std::span(pool.bytes).subspan(static_cast<std::size_t>(i) * size, size));
  pool.offsets = (copies - 1) * tensor.size.count / pool.unit;
  return pool;
}

void FreshInputs::refresh_tensor(const TensorBuffer& tensor, std::span<std::byte> target) {
  const auto& values = problem_.tensor(tensor.tensor).values;
  bool pooled = tensor.count >= kPooled && (!values || independent(*values));
  if (!pooled) {
    generate_input(problem_, tensor.tensor, shape_, InputStyle::declared, seed_, stream_++, target);
    return;
  }
  auto found = pools_.find(tensor.tensor);
  if (found == pools_.end()) found = pools_.emplace(tensor.tensor, make_pool(tensor)).first;
  const Pool& pool = found->second;
  auto row = std::max<std::int64_t>(2, tensor.extents.empty() ? 2 : tensor.extents.back());
  auto offset = static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(pool.offsets) + 1));
  if (offset % row == 0) offset = offset < pool.offsets ? offset + 1 : offset - 1;
  copy_bytes(std::span(pool.bytes).subspan(static_cast<std::size_t>(offset * pool.unit), target.size()),
             target);
}

std::span<std::byte> FreshInputs::place(const TensorBuffer& tensor, host::SharedBuffers* inputs, int slot) {
  if (tensor.role == TensorRole::input) return inputs->bytes(slot, tensor.buffer);
  auto& all = initial_[slot];
  if (all.size() <= tensor.inout) all.resize(tensor.inout + 1);
  all[tensor.inout].resize(static_cast<std::size_t>(tensor.size.count));
  return all[tensor.inout];
}

void FreshInputs::refresh(host::SharedBuffers* inputs, int slot) {
  for (const auto& tensor : layout_.tensors)
    if (tensor.role != TensorRole::output) refresh_tensor(tensor, place(tensor, inputs, slot));
}

void FreshInputs::generate(host::SharedBuffers* inputs, int slot, InputStyle style, std::uint64_t seed,
                           std::uint64_t stream) {
  for (const auto& tensor : layout_.tensors)
    if (tensor.role != TensorRole::output)
      generate_input(problem_, tensor.tensor, shape_, style, seed, stream, place(tensor, inputs, slot));
}

void FreshInputs::load_inouts(host::SharedBuffers& outputs, int slot) {
  for (const auto& tensor : layout_.tensors)
    if (tensor.role == TensorRole::inout)
      copy_bytes(initial_[slot][tensor.inout], outputs.bytes(slot, tensor.buffer));
}

std::vector<std::span<const std::byte>> FreshInputs::storage(host::SharedBuffers* inputs, int slot) {
  std::vector<std::span<const std::byte>> all;
  for (const auto& tensor : layout_.tensors)
    if (tensor.role != TensorRole::output) all.push_back(place(tensor, inputs, slot));
  return all;
}

}  // namespace ako
