// Choice among children by a cost model. In: context (history, space, regressor), archive, children. Out: the
// children worth an evaluation, best first. Called by evolve.cc. Breeds nothing and keeps nothing.
#pragma once

#include <vector>

#include "propose/archive.h"
#include "propose/offspring.h"
#include "propose/proposer.h"

namespace kw {

// Up to `count` of `children`, one at a time by expected improvement of the best time x pass share of the
// cell; each pick is believed at its predicted time before the next, so that a batch is spread. With fewer
// than kFirstGuesses measured times: by the model's mean, one cell repeated counting as slower. Needs
// context.regressor.
[[nodiscard]] std::vector<Child> screen_children(const ProposeContext& context, const Archive& archive,
                                                 std::vector<Child> children, int count);

// Expected amount by which N(mean, spread^2) falls below `best`, in the same unit
// (Jones, Schonlau, Welch 1998, "Efficient Global Optimization", eq. 15).
[[nodiscard]] double expect_improvement(double best, const Prediction& prediction);

}  // namespace kw
