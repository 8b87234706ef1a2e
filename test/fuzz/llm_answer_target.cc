// Answer of a model: what is accepted prints to an answer that reads the same; what is not has a named fault
// with a plain reason.
#include <vector>

#include "base/check.h"
#include "propose/llm_answer.h"
#include "target.h"

namespace kw::fuzz {

void run_llm_answer(std::string_view input) {
  static const std::vector<std::string> kFamilies = {"gemm_cpu"};
  const auto answer = parse_answer(input, kFamilies);
  if (!answer) {
    KW_CHECK(!print_answer_fault(answer.error().kind).empty(), "fault {}",
             static_cast<int>(answer.error().kind));
    return demand_line(answer.error().reason);
  }
  const std::string printed = print_answer(*answer);
  const auto again = parse_answer(printed, kFamilies);
  KW_CHECK(again.has_value(), "{} for {}", again.error().reason, printed);
  KW_CHECK(*again == *answer, "changed by printing: {}", printed);
  if (const auto* free = std::get_if<FreeAnswer>(&*answer)) demand_text(free->text, kMaxAnswerBytes + 1);
}

}  // namespace kw::fuzz
