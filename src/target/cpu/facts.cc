// Reads CPU facts from cpuid, /proc/cpuinfo, sysfs and the affinity mask. See facts.h.
#include "target/cpu/facts.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <fstream>

namespace kw {
namespace {

std::string load_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The first "model name" of /proc/cpuinfo, else the architecture: a name is part of the device's identity.
std::string find_model_name(const utsname& system) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const auto start = line.find_first_not_of(" \t", line.find(':') + 1);
    if (start != std::string::npos) return line.substr(start);
  }
  return system.machine;
}

void fill_unknown(int64_t& bytes, int sysconf_name) {
  if (bytes > 0) return;
  const long answer = sysconf(sysconf_name);  // glibc asks cpuid
  if (answer > 0) bytes = answer;
}

CacheSizes find_cache_sizes(int cpu) {
  CacheSizes sizes = load_cache_sizes(fmt::format("/sys/devices/system/cpu/cpu{}/cache", cpu));
  fill_unknown(sizes.l1d_bytes, _SC_LEVEL1_DCACHE_SIZE);
  fill_unknown(sizes.l2_bytes, _SC_LEVEL2_CACHE_SIZE);
  fill_unknown(sizes.l3_bytes, _SC_LEVEL3_CACHE_SIZE);
  return sizes;
}

}  // namespace

std::optional<int64_t> parse_cache_bytes(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value <= 0) return std::nullopt;
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  int shift = 0;
  if (unit == "K") {
    shift = 10;
  } else if (unit == "M") {
    shift = 20;
  } else if (unit == "G") {
    shift = 30;
  } else if (!unit.empty()) {
    return std::nullopt;
  }
  if (value > (INT64_MAX >> shift)) return std::nullopt;
  return value << shift;
}

CacheSizes load_cache_sizes(const std::filesystem::path& folder) {
  CacheSizes sizes;
  constexpr int kMaxIndexes = 16;  // today's CPUs have 3 to 5
  for (int i = 0; i < kMaxIndexes; ++i) {
    const auto entry = folder / fmt::format("index{}", i);
    const std::string level = load_line(entry / "level"), type = load_line(entry / "type");
    const auto bytes = parse_cache_bytes(load_line(entry / "size"));
    if (!bytes || type == "Instruction") continue;
    if (level == "1") sizes.l1d_bytes = *bytes;
    if (level == "2") sizes.l2_bytes = *bytes;
    if (level == "3") sizes.l3_bytes = *bytes;
  }
  return sizes;
}

std::vector<int> find_usable_cpus() {
  // The mask must be as large as the kernel's own, which fails with EINVAL for a smaller one.
  constexpr int kMaxCpus = 1 << 16;
  for (int cpus = CPU_SETSIZE; cpus <= kMaxCpus; cpus *= 2) {
    std::vector<cpu_set_t> mask(static_cast<size_t>(cpus / CPU_SETSIZE));
    const size_t mask_bytes = mask.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, mask_bytes, mask.data()) != 0) {
      if (errno == EINVAL) continue;
      break;
    }
    std::vector<int> usable;
    for (int cpu = 0; cpu < cpus; ++cpu) {
      if (CPU_ISSET_S(cpu, mask_bytes, mask.data())) usable.push_back(cpu);
    }
    if (!usable.empty()) return usable;
  }
  return {0};
}

std::string find_cpu_isa() {
#if defined(__x86_64__)
  // These ask the operating system's state mask (XCR0) too, not only the CPU.
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
    return "avx512";
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "avx2";
#endif
  return "none";
}

Result<DeviceFacts> find_cpu_facts(int threads) {
  const std::vector<int> cpus = find_usable_cpus();
  const int cores = static_cast<int>(cpus.size());
  if (threads < 1 || threads > cores) {
    return fail_user("threads {}: this process may use {} core{}; give 1 to {}", threads, cores,
                     cores == 1 ? "" : "s", cores);
  }
  utsname system{};
  if (uname(&system) != 0) return fail("cannot read the kernel release (uname, error {})", errno);
  const CacheSizes caches = find_cache_sizes(cpus.front());
  DeviceFacts facts;
  facts.target = "cpu";
  facts.name = find_model_name(system);
  facts.isa = find_cpu_isa();
  facts.cores = cores;
  facts.threads = threads;
  facts.l1d_bytes = caches.l1d_bytes;
  facts.l2_bytes = caches.l2_bytes;
  facts.l3_bytes = caches.l3_bytes;
  facts.os = fmt::format("{} {}", system.sysname, system.release);
  return facts;
}

}  // namespace kw
