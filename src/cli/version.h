// What this program is built from, for --version and doctor.
#pragma once

#include <string>

namespace kw {
[[nodiscard]] std::string print_version();
}
