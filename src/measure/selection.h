// What ships for a problem, and whether anything that ships is slower: pure functions over confirmed timings.
// In: Timing. Out: Decision, loss flags. Called by loop and by the bar "cpu.significant_losses". Runs
// nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/candidate.h"

namespace kw {

// The kernel only when it was re-measured in a fresh process and its interval lies above 1; else the vendor,
// with the reason. `baseline` is the bar's name, `baseline_median_us` its time when nothing was re-measured.
// The confirmation is against the baseline that proved hardest to beat when measured again; a win names that
// one.
[[nodiscard]] Decision decide(const std::string& problem, const std::string& baseline,
                              double baseline_median_us, const std::optional<Timing>& confirmation);

// protocol.md's "never slower": true for each timing whose paired ratio lies below 0.99 at family-wise
// two-sided error `alpha` (Holm over all cases, sign-flip p-values). Timings that keep no samples cannot be
// tested: KW_CHECK.
[[nodiscard]] std::vector<bool> find_significant_losses(const std::vector<Timing>& confirmations,
                                                        double alpha, uint64_t seed);

}  // namespace kw
