// What the winning kernels have in common: per field of the schedule the share of each value.
#include <algorithm>
#include <map>
#include <sstream>

#include "ship/chart.h"
#include "ship/html.h"

namespace kw {
namespace {

constexpr size_t kMostValues = 7;  // the rest is summed up
constexpr int kShades = 5;

std::vector<std::string> split_words(const std::string& key) {
  std::istringstream stream(key);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

using Counts = std::vector<std::pair<std::string, int>>;

Counts count_values(const std::vector<std::vector<std::string>>& keys, size_t place) {
  std::map<std::string, int> counts;
  for (const auto& words : keys)
    if (place < words.size()) ++counts[words[place]];
  Counts values(counts.begin(), counts.end());
  std::stable_sort(values.begin(), values.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  int rest = 0;
  while (values.size() > kMostValues) {
    rest += values.back().second;
    values.pop_back();
  }
  if (rest > 0) values.emplace_back("others", rest);
  return values;
}

std::string draw_field(const std::string& name, const Counts& values, size_t winners) {
  std::string html = fmt::format("<div class=\"row\"><span class=\"label\">{}</span><span class=\"stack\">",
                                 escape_html(name));
  for (size_t i = 0; i < values.size(); ++i) {
    const auto& [value, count] = values[i];
    html += fmt::format(
        "<span class=\"s{}\" style=\"flex-grow:{}\" title=\"{}: {} of {}\">{} <small>{}</small></span>",
        std::min<size_t>(i, kShades - 1), count, escape_html(value), count, winners, escape_html(value),
        count);
  }
  return html + "</span></div>\n";
}

std::string find_family(const CaseView& view) {
  for (const Evaluation& evaluation : view.source->evaluations)
    if (evaluation.binary_hash == view.decision().binary_hash && !evaluation.proposal.schedule.empty())
      return evaluation.proposal.family;
  return "";
}

}  // namespace

std::string draw_winning_schedules(const std::vector<CaseGroup>& groups, const ReportInput& input) {
  std::map<std::string, std::vector<std::vector<std::string>>> winners;  // family -> split keys
  for (const CaseGroup& group : groups)
    for (const CaseView& view : group.cases)
      if (view.ours && !view.row().schedule.empty())
        winners[find_family(view)].push_back(split_words(view.row().schedule));
  if (winners.empty()) return "<p>No kernel of a schedule family ships.</p>\n";
  std::string html;
  for (const auto& [family, keys] : winners) {
    const auto names = input.schedule_fields.find(family);
    size_t fields = 0;
    for (const auto& words : keys) fields = std::max(fields, words.size());
    html += fmt::format(
        "<figure class=\"rows stacks\"><p>{} kernel{} of family <code>{}</code> ship{}. Each bar: how "
        "many of them have which value, most frequent first.</p>\n",
        keys.size(), keys.size() == 1 ? "" : "s", escape_html(family.empty() ? "unknown" : family),
        keys.size() == 1 ? "s" : "");
    for (size_t place = 0; place < fields; ++place) {
      const bool named = names != input.schedule_fields.end() && place < names->second.size();
      html += draw_field(named ? names->second[place] : fmt::format("word {}", place + 1),
                         count_values(keys, place), keys.size());
    }
    html += "</figure>\n";
  }
  return html;
}

}  // namespace kw
