#include "base/random.h"

#include <sys/random.h>

#include <cmath>

#include "base/check.h"

namespace kw {
namespace {

// SplitMix64 finaliser (Steele, Lea, Flood 2014): a bijection that mixes a counter into uniform bits.
uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace

Random::Random(uint64_t seed, uint64_t stream)
    : state_(mix(seed) ^ mix(stream * 0xd1342543de82ef95ULL + 1)) {}

uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15ULL;
  return mix(state_);
}

uint64_t Random::below(uint64_t bound) {
  KW_CHECK(bound > 0, "bound {}", bound);
  return static_cast<uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
}

int64_t Random::between(int64_t low, int64_t high) {
  KW_CHECK(low <= high, "[{}, {}]", low, high);
  return low + static_cast<int64_t>(below(static_cast<uint64_t>(high - low) + 1));
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

double Random::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  const double angle = 2.0 * M_PI * uniform();
  spare_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

uint64_t make_secret_seed() {
  uint64_t seed = 0;
  KW_CHECK(getrandom(&seed, sizeof seed, 0) == sizeof seed, "getrandom gave too few bytes");
  return seed;
}

}  // namespace kw
