// The files of device/ as text, built into the program (cmake/device_text.cmake makes device_text.cc).
#pragma once

#include <string_view>

namespace kw {

// "cpu_abi.h" -> its text. An unknown name is a mistake of ours.
[[nodiscard]] std::string_view get_device_text(std::string_view file);

}  // namespace kw
