#include "compile/ptxas_report.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

namespace kw {
namespace {

constexpr size_t kMostWarnings = 8;

// The number in front of `words`: 96 of "Used 96 registers".
std::optional<int64_t> number_before(std::string_view line, std::string_view words) {
  const size_t at = line.find(words);
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  size_t end = at;
  while (end > 0 && line[end - 1] == ' ') --end;
  size_t begin = end;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(line[begin - 1]))) --begin;
  int64_t value = 0;
  if (std::from_chars(line.data() + begin, line.data() + end, value).ec != std::errc() || begin == end)
    return std::nullopt;
  return value;
}

constexpr std::pair<const char*, const char*> kNumbers[] = {{"registers", " registers"},
                                                            {"spill_store_bytes", " bytes spill stores"},
                                                            {"spill_load_bytes", " bytes spill loads"},
                                                            {"stack_bytes", " bytes stack frame"},
                                                            {"shared_bytes", " bytes smem"}};

}  // namespace

Json read_ptxas_report(std::string_view log) {
  Json facts = Json::object(), warnings = Json::array();
  while (!log.empty()) {
    const size_t end = std::min(log.find('\n'), log.size());
    const std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    for (const auto& [name, words] : kNumbers)
      if (const auto value = number_before(line, words))
        facts[name] = std::max<int64_t>(facts.value(name, int64_t{0}), *value);
    const size_t code = line.find("(C7");
    if (code != std::string_view::npos && warnings.size() < kMostWarnings)
      warnings.push_back(std::string(line.substr(code)));
  }
  if (!warnings.empty()) facts["warnings"] = std::move(warnings);
  return facts;
}

}  // namespace kw
