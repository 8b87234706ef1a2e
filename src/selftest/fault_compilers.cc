// Compilers that misbehave: shell scripts that answer like g++ until they are asked to compile.
#include <fmt/format.h>

#include "selftest/fault_host.h"

namespace kw {
namespace {

constexpr size_t kMostMessageBytes = 4100;
constexpr Milliseconds kShortLimit{700};

Result<Compiler> make_compiler(const TempFolder& folder, const std::string& script, Milliseconds limit) {
  return make_script_compiler(folder.path(), script,
                              {.cache_folder = folder.path() / "cache", .limit = limit});
}

std::string compile_with(Battery& battery, const std::string& script,
                         Milliseconds limit = Milliseconds(60'000)) {
  const auto folder = TempFolder::make(battery.folder());
  if (!folder) return folder.error().message;
  const auto compiler = make_compiler(*folder, script, limit);
  if (!compiler) return compiler.error().message;
  return describe_compile(*compiler, make_host_source(script.substr(0, 8)));
}

HostFault make_fault(std::string name, const std::string& script, std::string expected, Milliseconds limit) {
  return {.name = std::move(name), .expected = expected, .words = {expected}, .run = [=](Battery& battery) {
            return compile_with(battery, script, limit);
          }};
}

// A gigabyte of messages: read and dropped, the first kilobytes kept.
std::string flood(Battery& battery) {
  const auto folder = TempFolder::make(battery.folder());
  if (!folder) return folder.error().message;
  const auto compiler =
      make_compiler(*folder, "head -c 1000000000 /dev/zero | tr '\\0' x >&2; exit 1", Milliseconds(60'000));
  if (!compiler) return compiler.error().message;
  const auto outcome = compiler->compile_one(make_host_source("flood"), -1);
  if (!outcome) return outcome.error().message;
  if (*outcome) return "compiled";
  const size_t bytes = outcome->error().evidence["message"].get<std::string>().size();
  return outcome->error().code() + (bytes <= kMostMessageBytes ? ", message cut" : ", whole message kept");
}

// A compiler that reports success and leaves noise: found out where it is loaded.
std::string load_noise(Battery& battery) {
  const auto folder = TempFolder::make(battery.folder());
  if (!folder) return folder.error().message;
  const auto compiler =
      make_compiler(*folder, "exec head -c 5000 /dev/urandom > kernel.o", Milliseconds(60'000));
  if (!compiler) return compiler.error().message;
  const auto binary = compiler->compile_one(make_host_source("noise"), -1);
  if (!binary) return binary.error().message;
  if (!*binary) return binary->error().code();
  Workload workload;
  const auto buffers = battery.device().make_buffers(workload, {});
  if (!buffers) return buffers.error().message;
  const auto program = battery.device().start_candidate(**binary, **buffers);
  if (!program) return program.error().message;
  return *program ? "loaded" : program->error().code();
}

std::string name_missing_compiler(Battery& battery) {
  const auto compiler =
      Compiler::find({.compiler = "/nonexistent/g++", .cache_folder = battery.folder() / "objects"});
  return compiler ? "found" : compiler.error().message;
}

}  // namespace

Result<Compiler> make_script_compiler(const fs::path& folder, const std::string& script, CompilePlan plan) {
  const fs::path path = folder / "compiler";
  KW_TRY_VOID(write_file_atomically(
      path, "#!/bin/sh\ncase \"$*\" in *-c*) ;; *) exec g++ \"$@\" ;; esac\n" + script + "\n"));
  std::error_code code;
  fs::permissions(path, fs::perms::owner_all, code);
  if (code) return fail("{} cannot be made executable: {}", path.string(), code.message());
  plan.compiler = path;
  return Compiler::find(plan);
}

std::vector<HostFault> list_compiler_faults() {
  const std::string left = (fs::path("left") / "by" / "compiler").string();
  constexpr Milliseconds kPatient{60'000};
  return {
      make_fault("compiler_sleeps", "sleep 1000", "compile_error/timeout", kShortLimit),
      make_fault("compiler_floods_for_ever", "exec yes 'error: flood' >&2", "compile_error/timeout",
                 kShortLimit),
      {"compiler_prints_a_gigabyte", "compile_error/syntax, message cut", {"message cut"}, flood},
      make_fault("compiler_leaves_children", "sleep 1000 & sleep 1001 & exec g++ \"$@\"", "compiled",
                 kPatient),
      make_fault("compiler_leaves_files",
                 "mkdir -p " + left + "; echo x > " + left + "/file; exec g++ \"$@\"", "compiled", kPatient),
      make_fault("compiler_crashes", "kill -SEGV $$", "compile_error/compiler_crash", kPatient),
      make_fault("compiler_makes_nothing", "exit 0", "compile_error/no_object", kPatient),
      make_fault("compiler_fills_the_disk", "exec head -c 4000000000 /dev/zero > kernel.o",
                 "compile_error/object_too_large", kPatient),
      {"compiler_writes_noise", "illegal/object_format", {"illegal/object_format"}, load_noise},
      {"compiler_missing",
       "an error that names it",
       {"/nonexistent/g++", "does not run"},
       name_missing_compiler},
  };
}

}  // namespace kw
