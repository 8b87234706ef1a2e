// Why did a run give a wrong or a different output? Runs it again with one thing changed at a time (nothing,
// workspace, output pattern) and names the cause; falls back to the pattern of the errors. Called by
// verify.cc after a failure.
#pragma once

#include <cstddef>
#include <vector>

#include "verify/reason.h"
#include "verify/trial.h"

namespace kw {

struct Suspicion {
  Recipe recipe;      // of the trial's last run
  bool wrong = true;  // its output is wrong; else right but not the same as the run before
  std::vector<std::byte> earlier_output;  // an answer to other inputs on these buffers; may be empty
};

// Another output for the same of everything that a kernel can read.
[[nodiscard]] Named name_varying(const Subject& subject);

// The last run of `trial` was made with suspicion.recipe. Always a failed verdict.
[[nodiscard]] Verdict investigate(Trial& trial, const Subject& subject, const Suspicion& suspicion);

}  // namespace kw
