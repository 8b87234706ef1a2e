// The online cost model of a search: analytic prior plus what this search has measured. In: observations.
// Out: a Predictor. Made by loop and handed to proposers. Trained anew from the history in milliseconds each
// time, so it has no state of its own. Reads no store, runs no kernels.
#pragma once

#include <memory>

#include "schedule/predictor.h"

namespace kw {

// Mean of a Gaussian process and a forest of randomised trees, both on the residual of the analytic model.
// Deterministic.
[[nodiscard]] std::unique_ptr<Regressor> make_cost_model();

}  // namespace kw
