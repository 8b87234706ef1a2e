#include "loop/session.h"

#include <sched.h>

#include "base/random.h"
#include "loop/peaks.h"
#include "target/cpu/device.h"
#include "target/cuda/device.h"

namespace kw {
namespace {

std::vector<int> usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (::sched_getaffinity(0, sizeof set, &set) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

Status open_recorded(Session& session) {
  KW_TRY(session.table, RecordedTable::load(session.plan.recorded_table));
  KW_TRY(session.device_facts, load_recorded_device(session.plan.recorded_table));
  session.device_facts.target = "recorded";
  return {};
}

// One core measures, the others compile; with a single thread per kernel the last core is the measuring one.
Status open_cpu(Session& session) {
  const std::vector<int> cpus = usable_cpus();
  const int threads = session.plan.threads;
  if (threads > static_cast<int>(cpus.size()))
    return fail_user("--threads {}: this process may use {} cores; use 1 to {}", threads, cpus.size(),
                     cpus.size());
  session.measure_cpus = {cpus.end() - threads, cpus.end()};
  session.compile_cpus = {cpus.begin(), cpus.end() - threads};
  KW_TRY(session.device, make_cpu_device({.threads = threads, .cores = session.measure_cpus}));
  session.device_facts = session.device->facts();
  return {};
}

// All cores compile; the GPU measures.
Status open_cuda(Session& session) {
  session.compile_cpus = usable_cpus();
  KW_TRY(session.device, make_cuda_device({}));
  session.device_facts = session.device->facts();
  return {};
}

Status take_device(Session& session) {
  const auto on_wait = [&](const LockHolder& holder, double waited_s) {
    if (session.plan.wait_for_device && waited_s == 0)
      session.progress.say(
          fmt::format("the device is in use by {}; waiting for it to end", print_holder(holder)));
    return session.plan.wait_for_device && !session.should_stop();
  };
  KW_TRY(session.lock, DeviceLock::take(session.device_facts.target, on_wait));
  return {};
}

Status open_live(Session& session) {
  const bool on_gpu = session.plan.target == "cuda";
  KW_TRY_VOID(on_gpu ? open_cuda(session) : open_cpu(session));
  DeviceFacts& facts = session.device_facts;
  KW_TRY(session.compiler, Compiler::find({.architecture = on_gpu ? facts.isa : "",
                                           .cache_folder = session.plan.cache_folder,
                                           .max_cache_bytes = session.plan.max_cache_bytes}));
  facts.compiler = session.compiler->version();
  KW_TRY_VOID(take_device(session));
  return measure_peaks(*session.device, session.measure_cpus, facts);
}

}  // namespace

Result<Session> open_session(const TunePlan& plan, Progress& progress,
                             const std::function<bool()>& should_stop) {
  KW_TRY(Store store, Store::open(plan.store_path));
  Session session{plan, progress, should_stop, std::move(store)};
  session.secret_seed = make_secret_seed();
  if (plan.recorded_table.empty()) {
    KW_TRY_VOID(open_live(session));
  } else {
    KW_TRY_VOID(open_recorded(session));
  }
  KW_TRY(session.run, session.store.add_run({plan.command, plan.seed, session.device_facts, KW_VERSION}));
  return session;
}

}  // namespace kw
