#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "base/json.h"
#include "base/process.h"
#include "cage/probe.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "cli/version.h"
#include "compile/compile.h"
#include "target/cpu/facts.h"
#include "target/cpu/peak.h"
#include "target/cpu/vendor.h"
#include "target/library.h"

namespace kw {
namespace {

struct Finding {
  std::string what;
  bool ok = false;
  bool needed = true;  // else: good to have
  std::string found;   // or how to get it
};

void look_at_cpu(std::vector<Finding>& findings) {
  const auto facts = find_cpu_facts(1);
  if (!facts) {
    findings.push_back({"CPU", false, true, facts.error().message});
    return;
  }
  const bool vectors = facts->isa != "none";
  findings.push_back({"CPU", vectors, true,
                      fmt::format("{}, {} cores, {}, L1d {} KiB, L2 {} KiB, L3 {} KiB", facts->name,
                                  facts->cores, vectors ? facts->isa : "no AVX2: the CPU target needs it",
                                  facts->l1d_bytes >> 10, facts->l2_bytes >> 10, facts->l3_bytes >> 10)});
  if (const auto peaks = measure_cpu_peaks(1))
    findings.push_back({"speed of one core", true, true,
                        fmt::format("{:.0f} GFLOP/s f32, {:.1f} GB/s copy (measured now)", peaks->peak_gflops,
                                    peaks->bandwidth_gbs)});
  else
    findings.push_back({"speed of one core", false, true, peaks.error().message});
}

void look_at_tools(std::vector<Finding>& findings) {
  const auto compiler = Compiler::find({});
  findings.push_back({"host compiler", compiler.has_value(), true,
                      compiler ? compiler->version() : compiler.error().message});
  for (const VendorInfo& vendor : find_vendors())
    findings.push_back({"baseline " + vendor.name, vendor.missing.empty(), false,
                        vendor.missing.empty() ? vendor.version + " (" + vendor.path + ")" : vendor.missing});
  const auto cage = probe_cage();
  findings.push_back({"cage", cage.has_value(), true, cage ? *cage : cage.error().message});
}

void look_at_gpu(std::vector<Finding>& findings) {
  const struct {
    const char* what;
    std::vector<std::string> sonames;
    const char* remedy;
  } libraries[] = {
      {"NVIDIA driver", {"libcuda.so.1"}, "install NVIDIA's driver (R550 or newer for CUDA 12.4)"},
      {"NVRTC",
       {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"},
       "install the CUDA toolkit, 12.4 or newer"},
      {"cuBLAS",
       {"libcublas.so.13", "libcublas.so.12", "libcublas.so"},
       "install the CUDA toolkit, 12.4 or newer"},
      {"cuBLASLt",
       {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"},
       "install the CUDA toolkit, 12.4 or newer"}};
  for (const auto& library : libraries) {
    const auto found = find_library(library.sonames);
    findings.push_back({library.what, found.has_value(), false,
                        found ? *found : fmt::format("not found; for a GPU: {}", library.remedy)});
  }
  const bool device = ::access("/dev/nvidiactl", F_OK) == 0;
  findings.push_back({"GPU", device, false,
                      device
                          ? "a device node is there; this version tunes the CPU, the CUDA target comes next"
                          : "none on this machine; the CPU target works without"});
}

void look_at_llm(std::vector<Finding>& findings) {
  const char* url = std::getenv("KERNELWRIGHT_LLM_URL");
  findings.push_back(
      {"LLM endpoint", url != nullptr && *url != '\0', false,
       url != nullptr && *url != '\0'
           ? std::string(url) + " (named by KERNELWRIGHT_LLM_URL; this version does not call it yet)"
           : "none; not needed: the proposers seed and evolve work without one"});
}

int run_doctor(bool as_json) {
  std::vector<Finding> findings;
  utsname system{};
  ::uname(&system);
  findings.push_back({"system", std::string(system.machine) == "x86_64", true,
                      fmt::format("{} {} {}", system.sysname, system.release, system.machine)});
  look_at_cpu(findings);
  look_at_tools(findings);
  look_at_gpu(findings);
  look_at_llm(findings);

  bool ready = true, baseline = false;
  Json json;
  json["version"] = KW_VERSION;
  json["findings"] = Json::array();
  Table table({"", "what", "found"});
  for (const Finding& finding : findings) {
    table.add({finding.ok ? "ok" : finding.needed ? "MISSING" : "-", finding.what, finding.found});
    json["findings"].push_back(
        {{"what", finding.what}, {"ok", finding.ok}, {"needed", finding.needed}, {"found", finding.found}});
    ready = ready && (finding.ok || !finding.needed);
    baseline = baseline || (finding.ok && finding.what.starts_with("baseline "));
  }
  ready = ready && baseline;
  json["ready"] = ready;
  if (as_json) {
    std::printf("%s\n", print_json(json, 2).c_str());
    return ready ? kExitOk : kExitWorld;
  }
  std::printf("%s\n\n%s\n", print_version().c_str(), table.print().c_str());
  if (!baseline)
    std::printf(
        "No vendor library to compare with: install one of libopenblas0-pthread, libdnnl2 (Debian).\n");
  std::printf(ready ? "Ready: kernelwright tune --m 64 --n 64 --k 64 --budget 10s\n"
                    : "Not ready: see the lines marked MISSING; ./setup.sh installs what Debian has.\n");
  return ready ? kExitOk : kExitWorld;
}

}  // namespace

void add_doctor(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("doctor", "what this machine has, what is missing, how to get it");
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "one JSON document");
  command->callback([as_json, &exit_code] { exit_code = run_doctor(*as_json); });
}

}  // namespace kw
