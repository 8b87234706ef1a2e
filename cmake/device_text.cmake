# device/*.h as string constants inside kw_emit, so that a printed kernel needs no file of ours at run time.
file(GLOB device_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/device/*.h)
set(device_cases "")
foreach(path ${device_files})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
  get_filename_component(name ${path} NAME)
  file(READ ${path} text)
  string(APPEND device_cases "  if (file == \"${name}\") return R\"kw_text(${text})kw_text\";\n")
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/device_text.cc @ONLY CONTENT [[
#include "base/check.h"
#include "emit/device_text.h"

namespace kw {
std::string_view get_device_text(std::string_view file) {
@device_cases@  KW_CHECK(false, "device/{} is not built in", file);
}
}  // namespace kw
]])
target_sources(kw_emit PRIVATE ${CMAKE_BINARY_DIR}/device_text.cc)
