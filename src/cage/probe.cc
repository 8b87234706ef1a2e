#include "cage/probe.h"

#include "cage/cage.h"

namespace kw {

Result<std::string> probe_cage() {
  CagePlan plan;
  plan.program = "/bin/true";
  KW_TRY(const Cage cage, Cage::start(plan));
  const CageFacts& facts = cage.facts();
  std::string text = "seccomp, limits, namespaces:";
  const std::pair<bool, const char*> namespaces[] = {{facts.user_namespace, "user"},
                                                     {facts.pid_namespace, "pid"},
                                                     {facts.net_namespace, "net"},
                                                     {facts.ipc_namespace, "ipc"}};
  for (const auto& [there, name] : namespaces)
    if (there) text += fmt::format(" {}", name);
  if (!facts.refused.empty()) text += fmt::format(" (refused: {})", facts.refused);
  return text;
}

}  // namespace kw
