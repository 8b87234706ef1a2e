// Parse, call, print. Each command is a file of its own; `worker`, `cuda_worker` and `nvrtc` are hidden roles
// of child processes.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cli/commands.h"
#include "cli/version.h"
#include "target/cpu/worker.h"
#include "target/cuda/nvrtc.h"
#include "target/cuda/worker.h"

namespace kw {

int explain(const Error& error) {
  std::fprintf(stderr, "kernelwright: %s\n", error.message.c_str());
  return error.kind == ErrorKind::kUser ? kExitUser : kExitWorld;
}

namespace {

int run(int argc, char** argv) {
  CLI::App app{
      "Kernelwright writes matrix kernels for your shapes on your machine, proves that they are right and\n"
      "measures them against the vendor's library.",
      "kernelwright"};
  app.set_version_flag("--version", print_version);
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  app.footer(
      "Exit codes: 0 done; 1 the machine or a file failed; 2 wrong input; 3 a kernel is refused or the "
      "self-test fails;\n"
      "130 interrupted (everything measured so far is in the store).\n"
      "First time? Try: kernelwright doctor");
  int exit_code = kExitOk;
  for (auto add : {add_tune, add_best, add_ls, add_show, add_check, add_verify, add_confirm, add_report,
                   add_shapes, add_store, add_selftest, add_doctor, add_calibrate, add_arena, add_bench})
    add(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::CallForAllHelp& help) {
    return app.exit(help);
  } catch (const CLI::CallForVersion& version) {
    return app.exit(version);
  } catch (const CLI::ParseError& error) {
    const char* command = argc > 1 && argv[1][0] != '-' ? argv[1] : "";
    std::fprintf(stderr, "kernelwright: %s; see: kernelwright %s%s--help\n", error.what(), command,
                 *command != '\0' ? " " : "");
    return kExitUser;
  }
  if (std::fflush(stdout) != 0) return explain(Error{"standard output cannot be written"});
  return exit_code;
}

}  // namespace
}  // namespace kw

int main(int argc, char** argv) {
  const char* role = argc > 1 ? argv[1] : "";
  if (std::strcmp(role, "worker") == 0) return kw::run_worker();
  if (std::strcmp(role, kw::cuda::kCudaWorkerArgument) == 0)
    return kw::cuda::run_cuda_worker(argc > 2 ? std::atoi(argv[2]) : 0);
  if (std::strcmp(role, kw::cuda::kNvrtcArgument) == 0) return kw::cuda::run_nvrtc(argc - 2, argv + 2);
  return kw::run(argc, argv);
}
