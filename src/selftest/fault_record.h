// Records to fill a store with, and whether they are all there afterwards. For the rows that damage stores.
#pragma once

#include <string>

#include "base/file.h"
#include "store/store.h"

namespace kw {

[[nodiscard]] RunRecord make_host_run(const DeviceFacts& device);
// A failed candidate of some kilobytes; distinct for distinct numbers.
[[nodiscard]] Evaluation make_host_record(int number);
// "all kept" when the store at `path` holds the records 0 to count - 1 and at most one more, the one in
// flight.
[[nodiscard]] std::string compare_records(const fs::path& path, const DeviceFacts& device, int count);

}  // namespace kw
