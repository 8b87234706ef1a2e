// The closed list of reason codes that verify gives, and how a Verdict is put together. Attacks and mutants
// are told apart by these codes (protocol.md A.9). X stands for an operand's name.
#pragma once

#include <string>

#include "record/candidate.h"

namespace kw {

// clang-format off
// wrong_result/
//   unwritten                 elements still hold what lay there before the call
//   zeros                     wrong elements are all zero
//   m_tail n_tail mn_tail     only the last rows / columns / both are wrong
//   first_row_only            only the first row is right
//   transposed shifted swapped_tile   right values at wrong places: mirrored, at one offset, at several offsets
//   duplicated                wrong elements hold what is right elsewhere, where it is too
//   sign scaled               all wrong elements are the negated / equally scaled right ones
//   nan                       not finite where the answer is finite
//   special_lost              NaN or Inf expected, something else found
//   single_element            one element wrong, no better explanation
//   later_call                right with fresh workspace, wrong when earlier calls left something in it
//   uninitialised_workspace   the result depends on what lay in the workspace
//   reads_X                   the result depends on what lay in a pure output
//   index_32_bits             right, except where rows lie so far apart that 32 bits do not hold an offset
//   everywhere scattered      no explanation: more than 95 % wrong, or fewer
//  found by recomputing a few wrong elements (diagnose_gemm.h):
//   alpha beta beta_ignored   scalar dropped, applied twice or wrongly
//   alpha_zero                alpha is 0 and NaN or Inf of A or B still shows
//   k_tail k_head k_gap k_twice   the last / first / some inner products are missing, or some are added twice
//   transposed_X wrong_ld_X shifted_X   operand read transposed, with another leading dimension, one element off
// precision_downgrade/
//   f16_inputs bf16_inputs f16_accumulator bf16_accumulator f16_output bf16_output f16_products bf16_products
//   f16_partials bf16_partials (of split-k) low_accuracy
// out_of_bounds/
//   before_X past_X           an access faulted at the guard page
//   write_before_X write_past_X write_gap_X   guard overwritten
//   index_32_bits             touches wrong addresses, only where 32 bits do not hold an offset
// input_modified/X, nondeterministic/{repeat, uninitialised_workspace, reads_X}, race/between_items,
// hang/time_limit, crash/{segfault, bus_error, arithmetic, illegal_instruction, control_state, killed, exit},
// cheat/{forbidden_syscall, clock, cached_output}, skipped/no_check_in_domain
// clang-format on

struct Named {
  VerdictClass klass = VerdictClass::kWrongResult;
  std::string reason;
  Json note = Json::object();  // what supports the name; merged into the evidence
};

[[nodiscard]] inline Verdict make_verdict(const Named& named, Json evidence) {
  Verdict verdict;
  verdict.klass = named.klass;
  verdict.reason = named.reason;
  for (const auto& [key, value] : named.note.items()) evidence[key] = value;
  verdict.evidence = std::move(evidence);
  return verdict;
}

}  // namespace kw
