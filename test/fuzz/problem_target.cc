// Problem text: accepted exactly in canonical form; then its description and derived numbers are safe.
#include "base/check.h"
#include "record/problem.h"
#include "target.h"

namespace kw::fuzz {

void run_problem(std::string_view input) {
  const auto problem = parse_problem(input);
  if (!problem) return demand_plain(problem.error());
  KW_CHECK(print_problem(*problem) == input, "not canonical: {}", input);
  KW_CHECK(check_problem(*problem).has_value(), "parsed but refused: {}", input);
  demand_text(describe_problem(*problem), kMaxPrintedBytes);
  const Problem tight = with_tight_strides(*problem);
  KW_CHECK(tight.lda <= problem->lda && tight.ldb <= problem->ldb && tight.ldc <= problem->ldc,
           "strides below the tight ones: {}", input);
}

}  // namespace kw::fuzz
