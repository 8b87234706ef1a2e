#include "loop/baselines.h"

#include <algorithm>
#include <map>

namespace kw {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Result<ChosenBaselines> choose_baselines(Device& device, Buffers& buffers,
                                         const std::vector<std::string>& names,
                                         const BaselineChoice& choice) {
  KW_TRY(const std::vector<BaselineRow> rows, rank_baselines(device, buffers, names, choice.run_limit));
  ChosenBaselines chosen;
  std::map<std::string, std::optional<std::string>> faults;  // by identity
  size_t right = 0;
  for (const BaselineRow& row : rows) {
    if (!row.refused.empty()) {
      chosen.refused.push_back(row);
      continue;
    }
    const bool is_new = !faults.contains(row.identity);
    const bool wanted = contains(choice.always, row.name) || (is_new && right < choice.most);
    if (!wanted) continue;
    if (is_new) {
      KW_TRY(faults[row.identity], choice.find_fault(row.name));
      right += !faults[row.identity];
    }
    if (const auto& fault = faults[row.identity]; !fault)
      chosen.names.push_back(row.name);
    else
      chosen.refused.push_back({.name = row.name, .identity = row.identity, .refused = *fault});
  }
  return chosen;
}

}  // namespace kw
