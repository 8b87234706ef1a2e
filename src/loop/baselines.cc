#include "loop/baselines.h"

#include <algorithm>
#include <map>

namespace kw {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// As they come where all can be measured, else the fastest first.
Result<std::vector<BaselineRow>> list_by_rank(Device& device, Buffers& buffers,
                                              const std::vector<std::string>& names,
                                              const BaselineChoice& choice) {
  if (names.size() > choice.most) return rank_baselines(device, buffers, names, choice.run_limit);
  std::vector<BaselineRow> rows;
  for (const std::string& name : names) rows.push_back({.name = name});
  return rows;
}

}  // namespace

Result<ChosenBaselines> choose_baselines(Device& device, Buffers& buffers,
                                         const std::vector<std::string>& names,
                                         const BaselineChoice& choice) {
  KW_TRY(const std::vector<BaselineRow> rows, list_by_rank(device, buffers, names, choice));
  ChosenBaselines chosen;
  std::map<std::string, std::optional<std::string>> faults;  // by identity
  size_t right = 0;
  for (const BaselineRow& row : rows) {
    if (!row.refused.empty()) {
      chosen.refused.push_back(row);
      continue;
    }
    const bool wanted = contains(choice.always, row.name);
    const auto known = row.identity.empty() ? faults.end() : faults.find(row.identity);
    const bool is_new = known == faults.end();
    if (!wanted && (right >= choice.most || !is_new)) continue;
    std::optional<std::string> fault;
    if (is_new) {
      KW_TRY(fault, choice.find_fault(row.name));
      if (!row.identity.empty()) faults[row.identity] = fault;
      if (!fault) ++right;
    } else {
      fault = known->second;
    }
    if (!fault)
      chosen.names.push_back(row.name);
    else
      chosen.refused.push_back({.name = row.name, .identity = row.identity, .refused = *fault});
  }
  return chosen;
}

}  // namespace kw
