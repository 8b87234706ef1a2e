// Shared libraries that are loaded at run time: is one of these names there, and where? Used by doctor.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace kw {
// Path of the first that can be loaded.
[[nodiscard]] std::optional<std::string> find_library(const std::vector<std::string>& sonames);
}  // namespace kw
