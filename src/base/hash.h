// SPDX-License-Identifier: Apache-2.0
// The one content hash of ako: BLAKE2b-256 (RFC 7693, by libsodium), written as 64 lower-case hex digits.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace ako {

struct Hash {
  std::array<std::uint8_t, 32> bytes{};

  std::string hex() const;
  /// The first 12 digits, for people.
  std::string short_hex() const { return hex().substr(0, 12); }
  bool empty() const { return *this == Hash{}; }
  static bool parse(std::string_view hex, Hash& out);
  friend auto operator<=>(const Hash&, const Hash&) = default;
};

/// Hashes a sequence of fields; every field is length-framed, so that ("ab","c") differs from ("a","bc").
class Hasher {
 public:
  /// `domain` names what is hashed ("candidate/1"), so that hashes of different things never collide.
  explicit Hasher(std::string_view domain);
  ~Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;
  Hasher& add(std::string_view field);
  Hasher& add(std::span<const std::byte> field);
  Hasher& add(std::int64_t number);
  Hasher& add(const Hash& hash);
  Hash finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The hash of bytes alone, without domain or framing: names blobs.
Hash hash_bytes(std::span<const std::byte>);
Hash hash_text(std::string_view);

}  // namespace ako
