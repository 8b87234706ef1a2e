// From "measured best" to "decided": choose among the best by longer measurement, verify the choice over its
// domain in a fresh process, confirm its speed on samples that did not choose it, and write the decision.
#pragma once

#include "loop/round.h"
#include "loop/session.h"

namespace kw {

// Fills result.decision, confirmation, kernel_name and schedule. When the user interrupted, nothing is
// confirmed and the decision stays with the vendor, saying so. On the recorded target nothing is decided:
// that rests on a device.
[[nodiscard]] Status confirm_and_decide(Session& session, Lab& lab, Search& search, Clock::time_point begin,
                                        double budget_s, ProblemResult& result);

}  // namespace kw
