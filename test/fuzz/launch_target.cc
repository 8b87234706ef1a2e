// Launch record: parse and print are inverse, and what parses can be evaluated on any sizes: numbers within
// the limits or a refusal.
#include <array>

#include "base/check.h"
#include "record/launch.h"
#include "target.h"

namespace kw::fuzz {
namespace {

constexpr std::array<int64_t, 6> kSizes = {0, 1, 129, int64_t{1} << 40, INT64_MAX, INT64_MIN};

void evaluate(const LaunchRecord& launch, int64_t size, int64_t other) {
  const Variables variables = {{"m", size},    {"n", other},   {"k", size},   {"lda", other},
                               {"ldb", other}, {"ldc", other}, {"threads", 2}};
  if (const auto violation = find_domain_violation(launch, variables))
    demand_text(*violation, kMaxPrintedBytes);
  const auto numbers = evaluate_launch(launch, variables);
  if (!numbers) return demand_plain(numbers.error());
  KW_CHECK(numbers->items.size() == launch.kernels.size(), "{} kernels", launch.kernels.size());
  for (const int64_t items : numbers->items) KW_CHECK(items >= 0 && items <= kMaxItems, "{} items", items);
  for (const int64_t bytes : {numbers->workspace_bytes, numbers->scratch_bytes})
    KW_CHECK(bytes >= 0 && bytes <= kMaxWorkspaceBytes, "{} bytes", bytes);
}

}  // namespace

void run_launch(std::string_view input) {
  const auto json = parse_json(input, "launch.json");
  if (!json) return demand_plain(json.error());
  const auto launch = parse_launch(*json);
  if (!launch) return demand_plain(launch.error());
  const auto printed = parse_json(print_launch(*launch).dump(), "printed");
  KW_CHECK(printed.has_value(), "{}", printed.error().message);
  const auto again = parse_launch(*printed);
  KW_CHECK(again.has_value(), "{}", again.error().message);
  KW_CHECK(*again == *launch, "changed by printing: {}", printed->dump());
  for (const int64_t size : kSizes)
    for (const int64_t other : kSizes) evaluate(*launch, size, other);
}

}  // namespace kw::fuzz
