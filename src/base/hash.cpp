// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"

#include <sodium.h>

#include <cstring>

namespace ako {

struct Hasher::State {
  crypto_generichash_state hash;
};

std::string Hash::hex() const {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(64);
  for (std::uint8_t byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

bool Hash::parse(std::string_view hex, Hash& out) {
  if (hex.size() != 64) return false;
  auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  for (std::size_t i = 0; i < 32; ++i) {
    int high = digit(hex[2 * i]);
    int low = digit(hex[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    out.bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return true;
}

Hasher::Hasher(std::string_view domain) : state_(std::make_unique<State>()) {
  crypto_generichash_init(&state_->hash, nullptr, 0, sizeof(Hash::bytes));
  add(domain);
}
Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;

Hasher& Hasher::add(std::span<const std::byte> field) {
  std::uint64_t size = field.size();
  unsigned char frame[8];
  for (int i = 0; i < 8; ++i) frame[i] = static_cast<unsigned char>(size >> (8 * i));
  crypto_generichash_update(&state_->hash, frame, sizeof frame);
  crypto_generichash_update(&state_->hash, reinterpret_cast<const unsigned char*>(field.data()), size);
  return *this;
}
Hasher& Hasher::add(std::string_view field) {
  return add(std::as_bytes(std::span(field.data(), field.size())));
}
Hasher& Hasher::add(std::int64_t number) { return add(std::string_view(std::to_string(number))); }
Hasher& Hasher::add(const Hash& hash) { return add(std::as_bytes(std::span(hash.bytes))); }

Hash Hasher::finish() {
  Hash result;
  crypto_generichash_final(&state_->hash, result.bytes.data(), result.bytes.size());
  return result;
}

Hash hash_bytes(std::span<const std::byte> bytes) {
  Hash result;
  crypto_generichash(result.bytes.data(), result.bytes.size(),
                     reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), nullptr, 0);
  return result;
}
Hash hash_text(std::string_view text) {
  return hash_bytes(std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace ako
