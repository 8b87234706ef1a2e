// Proposal -> Source: kernel text and launch record. One file per family; free-form proposals pass through
// checked.
#pragma once

#include "record/candidate.h"
#include "record/device.h"

namespace kw {

// An illegal schedule or a malformed free-form proposal is a Verdict (illegal/...), not an Error.
[[nodiscard]] tl::expected<Source, Verdict> make_source(const Problem& problem, const Proposal& proposal,
                                                        const DeviceFacts& device);

// True when a source text holds the kernel ABI (device/cpu_abi.h) as this program pastes it.
[[nodiscard]] bool has_this_abi(std::string_view source);

}  // namespace kw
