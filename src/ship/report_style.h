// Look and behaviour of the report: one style sheet, one script, both inline. They load nothing.
#pragma once

namespace kw {
[[nodiscard]] const char* get_report_style();
[[nodiscard]] const char* get_report_script();
}  // namespace kw
