// Several families as one space: a key is the family's name, a blank, and the family's own key. So a search
// over a device with more than one family needs to know of none. Called by make_spaces; emit takes such keys
// apart with split_joint_key.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "schedule/space.h"

namespace kw {

// Needs at least one space.
[[nodiscard]] std::unique_ptr<Space> make_joint_space(std::string_view name,
                                                      std::vector<std::unique_ptr<Space>> spaces);

// {"gemm_wgmma", "g1 n32 ..."} of "gemm_wgmma g1 n32 ..."; the second is empty without a blank.
[[nodiscard]] std::pair<std::string_view, std::string_view> split_joint_key(std::string_view key);

}  // namespace kw
