// Ctrl-C: the first asks the run to finish the evaluation in flight and save; the second ends the program at
// once.
#pragma once

namespace kw {
void catch_interrupts();
[[nodiscard]] bool was_interrupted();
}  // namespace kw
