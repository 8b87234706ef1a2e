// SHA-256 over length-prefixed parts, so that ("ab","c") and ("a","bc") differ. Used for every identity we
// store.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace kw {

// 64 lower-case hex digits.
[[nodiscard]] std::string hash_parts(std::initializer_list<std::string_view> parts);
[[nodiscard]] std::string hash_bytes(std::span<const std::byte> bytes);

// First 12 digits: for people's eyes and file names shown to people, never an identity.
[[nodiscard]] inline std::string short_hash(std::string_view hash) { return std::string(hash.substr(0, 12)); }

}  // namespace kw
