// A kernel's certificate: what it is, what it claims, on what it was proved, how fast it was where. JSON; the
// hash over the rest makes a changed byte visible. Written by check and, later, by packs.
#pragma once

#include "base/json.h"
#include "record/candidate.h"
#include "record/device.h"

namespace kw {

// `evaluation` must carry a pass verdict of a promotion; its evidence lists families, margins, shapes and
// seeds.
[[nodiscard]] Json make_certificate(const Evaluation& evaluation, const LaunchRecord& launch,
                                    const Timing& timing, const DeviceFacts& device);

// A user error when a byte of the certificate was changed or a field is missing.
[[nodiscard]] Status check_certificate_hash(const Json& certificate);

}  // namespace kw
