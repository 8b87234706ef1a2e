#include <sys/utsname.h>

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
#include "target/cuda/device.h"
#include "target/cuda/nvrtc.h"
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
  constexpr const char* kToolkit = "install the CUDA toolkit, 12.4 or newer";
  if (!find_library({"libcuda.so.1"})) {
    findings.push_back(
        {"GPU", false, false,
         "no NVIDIA driver; for a GPU: install it (R550 or newer for CUDA 12.4); the CPU target "
         "works without"});
  } else {
    const CudaSetup setup = find_cuda_setup({});
    findings.push_back({"GPU", setup.error.empty(), false,
                        setup.error.empty() ? setup.device + ", driver for " + setup.driver : setup.error});
    for (const CudaSetup::Library& library : setup.libraries)
      findings.push_back(
          {"baseline " + library.name, library.missing.empty(), false,
           library.missing.empty() ? library.version : fmt::format("{}; {}", library.missing, kToolkit)});
  }
  const auto nvrtc = cuda::Nvrtc::load();
  findings.push_back(
      {"NVRTC", nvrtc.has_value(), false, nvrtc ? (*nvrtc)->version() : nvrtc.error().message});
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
