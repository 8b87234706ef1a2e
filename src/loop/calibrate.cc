#include "loop/calibrate.h"

#include "loop/session.h"

namespace kw {

Result<DeviceFacts> run_calibrate(const TunePlan& plan, Progress& progress,
                                  const std::function<bool()>& should_stop) {
  KW_TRY(Session session, open_session(plan, progress, should_stop));
  KW_TRY_VOID(session.store.finish_run(session.run, "done"));
  return session.device_facts;
}

}  // namespace kw
