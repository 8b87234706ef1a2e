// Decision and confirmation -> rows, one per run and problem. Used by add_decision and merge inside their
// transaction.
#pragma once

#include "record/candidate.h"
#include "store/database.h"
#include "store/identity.h"

namespace kw {

struct DecisionOrigin {
  RunOrigin run;
  int protocol_version = 0;
  std::string decided;  // ISO 8601 UTC; of two decisions of one run and problem the later stays
};

// False when the kernel that it rests on, or its confirmation, has no stored pass; then nothing is written.
[[nodiscard]] Result<bool> write_decision(Database& database, const Decision& decision,
                                          const std::optional<Timing>& confirmation,
                                          const DecisionOrigin& origin);

}  // namespace kw
