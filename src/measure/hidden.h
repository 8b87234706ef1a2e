// What a timed program cannot foresee (protocol.md C): before each run one input element of every set it will
// touch changes in place, and output elements at hidden places are spoiled; after it they must be right, and
// outputs of sets whose turn it was not must be as they were. In: buffers, who knows the values. Used by
// sampler for candidates and baselines alike; its own time is never counted.
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
  // An output element of a set that the run had no business with and changed ({"set","element"}).
  [[nodiscard]] std::optional<Json> find_foreign_write();

 private:
  struct Place {
    int set = 0;
    Spot spot;
  };
  struct Untouched {
    int set = 0;
    int64_t row = 0, col = 0;
    std::vector<std::byte> before;
  };
  void change_input(int set);
  void choose_untouched(int first_set, int64_t calls);
  void write(int set, int index, int64_t at, double value);           // element `at` of an operand
  std::vector<std::byte> element(int set, int64_t row, int64_t col);  // of the output
  Place choose_place(int first_set, int64_t calls);

  Buffers& buffers_;
  SpotReference reference_;
  Random random_;
  int output_ = -1;  // index of the first operand that is written
  std::vector<int> inputs_;
  std::vector<Place> places_;
  std::optional<Untouched> untouched_;
};

}  // namespace kw
