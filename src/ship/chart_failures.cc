// What went wrong, by verdict code: a bar each and one example with its evidence.
#include <algorithm>
#include <map>

#include "ship/chart.h"
#include "ship/html.h"
#include "ship/svg.h"

namespace kw {
namespace {

constexpr int kRowPx = 20;
constexpr size_t kMostEvidence = 300;  // characters shown

struct Failure {
  std::string code;
  int64_t count = 0;
  const Evaluation* example = nullptr;
  const CaseView* view = nullptr;
};

struct Outcome {
  int64_t evaluations = 0;
  std::vector<Failure> failures;  // most frequent first
};

Outcome count_failures(const std::vector<CaseGroup>& groups) {
  Outcome outcome;
  std::map<std::string, Failure> by_code;
  for (const CaseGroup& group : groups)
    for (const CaseView& view : group.cases)
      for (const Evaluation& evaluation : view.source->evaluations) {
        ++outcome.evaluations;
        if (evaluation.verdict.passed()) continue;
        Failure& failure = by_code[evaluation.verdict.code()];
        ++failure.count;
        // An example with evidence says more than one without.
        const bool better = failure.example == nullptr || (failure.example->verdict.evidence.empty() &&
                                                           !evaluation.verdict.evidence.empty());
        if (!better) continue;
        failure.code = evaluation.verdict.code();
        failure.example = &evaluation;
        failure.view = &view;
      }
  for (auto& [code, failure] : by_code) outcome.failures.push_back(failure);
  std::stable_sort(outcome.failures.begin(), outcome.failures.end(),
                   [](const Failure& a, const Failure& b) { return a.count > b.count; });
  return outcome;
}

std::string draw_bar(const Failure& failure, int64_t most) {
  const std::string what = fmt::format("{}: {}", failure.code, print_count(failure.count));
  Svg svg(kRowPx, what, "");
  svg.rectangle({0, 4}, 100.0 * static_cast<double>(failure.count) / static_cast<double>(most), kRowPx - 8,
                "bar", what);
  return fmt::format(
      "<div class=\"row\"><span class=\"label\">{}</span>{}<span class=\"value\">{}</span></div>\n",
      escape_html(failure.code), svg.print(), print_count(failure.count));
}

std::string print_evidence(const Verdict& verdict) {
  if (verdict.evidence.empty()) return "-";
  const std::string text = verdict.evidence.dump(-1, ' ', false, Json::error_handler_t::replace);
  return fmt::format("<code>{}</code>", escape_html(shorten(text, kMostEvidence)));
}

}  // namespace

std::string draw_failures(const std::vector<CaseGroup>& groups) {
  const Outcome outcome = count_failures(groups);
  if (outcome.failures.empty())
    return fmt::format("<p>All {} evaluated candidates were right.</p>\n", print_count(outcome.evaluations));
  int64_t failed = 0;
  for (const Failure& failure : outcome.failures) failed += failure.count;
  std::string html = fmt::format(
      "<p>{} of {} evaluated candidates ({}) failed. A failed candidate has no time and "
      "never ships.</p>\n<figure class=\"rows\">\n",
      print_count(failed), print_count(outcome.evaluations),
      print_percent(static_cast<double>(failed) / static_cast<double>(outcome.evaluations)));
  HtmlTable table(
      {{"verdict"}, {"count", true}, {"example's shape"}, {"kernel"}, {"evidence", false, "", "key-text"}});
  for (const Failure& failure : outcome.failures) {
    html += draw_bar(failure, outcome.failures.front().count);
    const Evaluation& example = *failure.example;
    const std::string& identity = example.binary_hash.empty() ? example.source_hash : example.binary_hash;
    table.add({text_cell(failure.code),
               {print_count(failure.count), static_cast<double>(failure.count)},
               text_cell(failure.view->label),
               code_cell(identity.substr(0, 12), example.kernel_name),
               {print_evidence(example.verdict), {}}});
  }
  return html + "</figure>\n" + table.print("One example of each");
}

}  // namespace kw
