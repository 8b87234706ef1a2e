// What every schedule family offers to proposers, as text keys, so that a proposer knows no family's fields.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "record/device.h"
#include "record/problem.h"

namespace kw {

// The legal schedules of one family for one problem on one device. All keys in and out are canonical.
class Space {
 public:
  virtual ~Space() = default;
  virtual std::string_view family() const = 0;
  // Empty when legal, else the broken rule's reason.
  virtual std::optional<std::string> find_illegality(std::string_view key) const = 0;
  virtual std::string draw(Random& random) const = 0;  // uniform over legal ones
  virtual std::string mutate(std::string_view key,
                             Random& random) const = 0;  // one or two fields changed, legal
  virtual std::string cross(std::string_view a, std::string_view b, Random& random) const = 0;  // legal
  virtual std::vector<std::string> enumerate(size_t most) const = 0;  // deterministic order, distinct
  // Predicted time of one call in us from the analytic, cache-aware model.
  virtual double predict_us(std::string_view key) const = 0;
  // Best first, distinct, by predict_us over the whole space.
  virtual std::vector<std::string> rank(size_t most) const = 0;
  // Cell of the MAP-Elites archive: "square/pack_b/kc256".
  virtual std::string behaviour(std::string_view key) const = 0;
  virtual std::vector<double> features(std::string_view key) const = 0;  // fixed length, for cost models
  virtual std::vector<std::string> feature_names() const = 0;
  // Rows, columns, depth at which the schedule's code changes path; for domain sampling.
  virtual std::vector<int64_t> tile(std::string_view key) const = 0;  // {tile_m, tile_n, tile_k}
};

// Families that can compute the problem on the device (the GPU's as one joint space, joint_space.h): gemm_cpu
// on a CPU; gemm_wgmma, gemm_direct, gemm_async on a GPU.
[[nodiscard]] std::vector<std::unique_ptr<Space>> make_spaces(const Problem& problem,
                                                              const DeviceFacts& device);
[[nodiscard]] Result<std::unique_ptr<Space>> make_space(std::string_view family, const Problem& problem,
                                                        const DeviceFacts& device);

}  // namespace kw
