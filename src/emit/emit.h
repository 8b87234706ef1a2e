// Proposal -> Source: kernel text and launch record. One file per family; free-form proposals pass through
// checked.
#pragma once

#include "record/candidate.h"
#include "record/device.h"

namespace kw {

// An illegal schedule or a malformed free-form proposal is a Verdict (illegal/...), not an Error.
[[nodiscard]] tl::expected<Source, Verdict> make_source(const Problem& problem, const Proposal& proposal,
                                                        const DeviceFacts& device);

}  // namespace kw
