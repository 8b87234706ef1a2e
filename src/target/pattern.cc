// The pattern is computed in words of 8 bytes: word w of the memory is the first draw of stream w of the
// seed.
#include "target/pattern.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/random.h"

namespace kw {
namespace {

constexpr size_t kWordBytes = sizeof(uint64_t);

std::array<std::byte, kWordBytes> make_word(uint64_t seed, size_t word) {
  const uint64_t value = Random(seed, word).next();
  std::array<std::byte, kWordBytes> bytes;
  std::memcpy(bytes.data(), &value, kWordBytes);
  return bytes;
}

}  // namespace

void fill_pattern(std::span<std::byte> memory, size_t begin, size_t end, uint64_t seed) {
  for (size_t position = begin; position < end;) {
    const size_t within = position % kWordBytes, count = std::min(kWordBytes - within, end - position);
    const auto word = make_word(seed, position / kWordBytes);
    std::memcpy(memory.data() + position, word.data() + within, count);
    position += count;
  }
}

std::optional<size_t> find_pattern_break(std::span<const std::byte> memory, size_t begin, size_t end,
                                         uint64_t seed) {
  for (size_t position = begin; position < end;) {
    const size_t within = position % kWordBytes, count = std::min(kWordBytes - within, end - position);
    const auto word = make_word(seed, position / kWordBytes);
    for (size_t i = 0; i < count; ++i)
      if (memory[position + i] != word[within + i]) return position + i;
    position += count;
  }
  return std::nullopt;
}

}  // namespace kw
