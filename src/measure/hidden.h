// What a timed program cannot foresee (protocol.md C): before each run one input element of every set it will
// touch changes in place, and output elements at hidden places are spoiled; after it they must be right. In:
// buffers, who knows the values. Used by sampler for candidates and baselines alike; its own time is never
// counted.
#pragma once

#include <optional>
#include <vector>

#include "base/random.h"
#include "record/spot.h"
#include "target/device.h"

namespace kw {

class HiddenSpots {
 public:
  // Without a reference nothing is looked at, and nothing changed.
  HiddenSpots(Buffers& buffers, SpotReference reference, uint64_t seed);

  // Before `calls` calls that begin at first_set.
  void prepare(int first_set, int64_t calls);
  // After them: nothing, or the first wrong element ({"set","element","got","want","bound","calls"}).
  [[nodiscard]] std::optional<Json> find_wrong();

 private:
  struct Place {
    int set = 0;
    Spot spot;
  };
  void change_input(int set);
  Place choose_place(int first_set, int64_t calls);

  Buffers& buffers_;
  SpotReference reference_;
  Random random_;
  int output_ = -1;  // index of the first operand that is written
  std::vector<int> inputs_;
  std::vector<Place> places_;
};

}  // namespace kw
