// Evaluation -> Certificate: adds the toolchain and checks that nothing is missing. Called by check_kernel
// for a user's kernel and by cli for a chosen one. Runs nothing.
#pragma once

#include "record/candidate.h"
#include "record/device.h"
#include "ship/certificate.h"

namespace kw {

// The evaluation must carry a promoted pass, source text and launch record, the timing its samples. A user
// error says what is missing and how to get it.
[[nodiscard]] Result<Certificate> certify(const Evaluation& evaluation, const Timing& timing,
                                          const DeviceFacts& device);

// The source that an evaluation or a certificate was built from.
[[nodiscard]] Source make_certified_source(const std::string& text, const std::string& language,
                                           const LaunchRecord& launch);

}  // namespace kw
