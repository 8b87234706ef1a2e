#include "compile/compile.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/hash.h"
#include "compile/ptxas_report.h"
#include "target/cuda/nvrtc.h"

namespace kw {
namespace {

constexpr size_t kMaxMessageBytes = 4000;
constexpr size_t kMaxCompilerFileBytes = size_t{64} << 20;  // of each file; assembly is the largest
constexpr const char* kObjectFile = "kernel.o";
constexpr size_t kRoomBytes = 64 << 10;
constexpr const char* kMaxErrors = "-fmax-errors=20";  // no more of them help anybody
constexpr int64_t kEvictEvery = 256;                   // compiler runs between looks at the cache's size

// Free-standing, position-independent, no exceptions, nothing that needs start-up or clean-up code.
// Contracting a*b+c to FMA is allowed: the error bound of protocol.md A.2 covers it.
const std::vector<std::string>& base_flags() {
  static const std::vector<std::string> flags = {"-O2",
                                                 "-fPIC",
                                                 "-ffreestanding",
                                                 "-ffp-contract=fast",
                                                 "-fno-stack-protector",
                                                 "-fvisibility=hidden",
                                                 "-fno-asynchronous-unwind-tables",
                                                 "-fno-unwind-tables",
                                                 "-fno-ident",
                                                 "-fcf-protection=none",
                                                 "-nostdinc",
                                                 "-fno-math-errno",
                                                 "-fno-trapping-math",
                                                 "-w",
                                                 "-D_MM_MALLOC_H_INCLUDED",
                                                 "-fdiagnostics-color=never"};
  return flags;
}

// GCC keeps accumulators of a large register tile in registers only with these (3 % at 45x383x804;
// doc/gemm_cpu.md).
const std::vector<std::string> kGccFlags = {"-fira-region=all", "-flive-range-shrinkage"};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// Largest frame of a -fstack-usage report ("file:line:col:name<TAB>bytes<TAB>kind").
int64_t largest_frame(const std::string& report) {
  int64_t largest = 0;
  std::istringstream lines(report);
  for (std::string line; std::getline(lines, line);) {
    const size_t tab = line.find('\t');
    if (tab != std::string::npos) largest = std::max<int64_t>(largest, std::atoll(line.c_str() + tab + 1));
  }
  return largest;
}

// What went wrong: "timeout", "object_too_large", "compiler_crash", "out_of_memory", "compiler_limit"
// (endless templates or constants), "too_many_errors" or "syntax". The driver (g++) lives on when a program
// of its own is stopped, and says so in its own words. A source that puts these words into its errors gains
// nothing: it fails either way.
std::string name_failure(const CommandOutcome& outcome) {
  const auto says = [&](std::initializer_list<const char*> all) {
    return std::any_of(all.begin(), all.end(),
                       [&](const char* words) { return outcome.errors.find(words) != std::string::npos; });
  };
  if (outcome.timed_out || says({"CPU time limit exceeded"})) return "timeout";
  if (outcome.signal == SIGXFSZ || says({"File size limit exceeded"})) return "object_too_large";
  if (says({"virtual memory exhausted", "out of memory allocating", "Cannot allocate memory"}))
    return "out_of_memory";
  if (outcome.signal != 0 ||
      says({"signal terminated program", "unable to execute command", "Resource temporarily unavailable"}))
    return "compiler_crash";
  if (says({"instantiation depth exceeds", "evaluation depth exceeds", "iteration count exceeds limit",
            "operation count exceeds limit", "recursive template instantiation exceeded",
            "constexpr evaluation exceeded", "constexpr evaluation hit maximum"}))
    return "compiler_limit";
  if (says({"terminated due to -fmax-errors", "too many errors emitted"})) return "too_many_errors";
  return "syntax";
}

// True when the failure says as much about the machine as about the source: it is not remembered.
bool is_of_the_moment(const std::string& failure) {
  return failure == "timeout" || failure == "compiler_crash" || failure == "out_of_memory";
}

bool has_room(const fs::path& folder) {
  std::ofstream file(folder / "room", std::ios::binary);
  file << std::string(kRoomBytes, 'r') << std::flush;
  return file.good();
}

Verdict compile_verdict(const std::string& code, const std::string& message) {
  Verdict verdict;
  verdict.klass = VerdictClass::kCompileError;
  verdict.reason = code;
  verdict.evidence["message"] = message;
  return verdict;
}

}  // namespace

Result<Compiler> Compiler::find(const CompilePlan& plan) {
  auto compiler = plan.architecture.empty() ? find_host(plan) : find_nvrtc(plan);
  if (compiler) [[maybe_unused]]
    const int64_t evicted = compiler->cache_.evict();
  return compiler;
}

// In a process of its own: it is other people's code that reads untrusted text.
Result<Compiler> Compiler::find_nvrtc(const CompilePlan& plan) {
  KW_TRY(ObjectCache cache, ObjectCache::open(plan.cache_folder, plan.max_cache_bytes));
  Compiler compiler(plan, std::move(cache));
  compiler.path_ = fs::read_symlink("/proc/self/exe").string();
  const auto version = run_command(
      {.argv = {compiler.path_, cuda::kNvrtcArgument, "--version"}, .limit = Milliseconds(30'000)});
  if (!version) return tl::unexpected(version.error());
  if (!version->ok()) return fail("{}", first_line(version->errors));
  compiler.version_ = first_line(version->output) + " " + plan.architecture;
  return compiler;
}

Result<Compiler> Compiler::find_host(const CompilePlan& plan) {
  KW_TRY(ObjectCache cache, ObjectCache::open(plan.cache_folder, plan.max_cache_bytes));
  Compiler compiler(plan, std::move(cache));
  const char* named = std::getenv("KERNELWRIGHT_CXX");
  std::string wanted = plan.compiler;
  if (wanted.empty() && named != nullptr) wanted = named;
  std::vector<std::string> names = {"g++", "clang++"};
  if (!wanted.empty()) names = {wanted};
  for (const std::string& name : names) {
    const auto version = run_command({.argv = {name, "--version"}, .limit = Milliseconds(10'000)});
    if (!version || !version->ok()) continue;
    const auto include =
        run_command({.argv = {name, "-print-file-name=include"}, .limit = Milliseconds(10'000)});
    if (!include || !include->ok()) continue;
    compiler.path_ = name;
    compiler.version_ = first_line(version->output);
    compiler.include_folder_ = first_line(include->output);
    return compiler;
  }
  if (!wanted.empty())
    return fail("the compiler {} does not run; set KERNELWRIGHT_CXX to g++ or clang++, or unset it", wanted);
  return fail(
      "no C++ compiler found; install one (Debian: apt-get install g++) or name it in KERNELWRIGHT_CXX");
}

std::vector<std::string> list_flags(const Source& source, std::string_view compiler_version) {
  if (source.launch.target == "cuda") return source.flags;  // the role adds its own
  std::vector<std::string> flags = base_flags();
  if (source.language == "c++")
    for (const char* flag :
         {"-x", "c++", "-std=c++20", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics"})
      flags.push_back(flag);
  else
    for (const char* flag : {"-x", "c", "-std=gnu11"}) flags.push_back(flag);
  if (compiler_version.starts_with("g++")) flags.insert(flags.end(), kGccFlags.begin(), kGccFlags.end());
  const std::string isa = source.launch.isa;
  for (const char* flag : {"-mavx2", "-mfma", "-mbmi", "-mbmi2"}) flags.push_back(flag);
  if (isa == "avx512")
    for (const char* flag :
         {"-mavx512f", "-mavx512vl", "-mavx512bw", "-mavx512dq", "-mprefer-vector-width=512"})
      flags.push_back(flag);
  flags.insert(flags.end(), source.flags.begin(), source.flags.end());
  return flags;
}

std::string hash_source(const Source& source, const std::vector<std::string>& flags,
                        const std::string& compiler_version) {
  std::string joined;
  for (const std::string& flag : flags) joined += fmt::format("{}:{}", flag.size(), flag);
  return hash_parts({source.text, source.language, joined, compiler_version});
}

std::string Compiler::source_hash(const Source& source) const {
  return hash_source(source, list_flags(source, version_), version_);
}

Command Compiler::make_command(const Source& source, const fs::path& folder, int cpu) const {
  Command command;
  const std::vector<std::string> flags = list_flags(source, version_);
  if (plan_.architecture.empty()) {
    command.argv = {path_};
    command.argv.insert(command.argv.end(), flags.begin(), flags.end());
    for (const std::string& word :
         {std::string("-isystem"), include_folder_, std::string("-fstack-usage"), std::string("-c"),
          std::string("-"), std::string("-o"), std::string(kObjectFile), std::string(kMaxErrors)})
      command.argv.push_back(word);
  } else {
    command.argv = {path_, cuda::kNvrtcArgument, plan_.architecture, kObjectFile};
    command.argv.insert(command.argv.end(), flags.begin(), flags.end());
  }
  command.folder = folder;
  command.input = source.text;
  command.limit = plan_.limit;
  command.max_cpu_s = plan_.max_cpu_s;
  command.cpu = cpu;
  command.background = true;
  command.max_memory_bytes = plan_.max_memory_bytes;
  command.max_file_bytes = kMaxCompilerFileBytes;
  return command;
}

Result<CacheEntry> Compiler::run_compiler(const Source& source, int cpu) const {
  KW_TRY(const TempFolder folder, TempFolder::make());
  const Command command = make_command(source, folder.path(), cpu);
  runs_->fetch_add(1);
  KW_TRY(const CommandOutcome outcome, run_command(command));

  CacheEntry entry;
  entry.compile_us = outcome.elapsed_us;
  entry.message = print_lines(outcome.errors, kMaxMessageBytes);
  if (!outcome.ok()) {
    if (!has_room(folder.path()))
      return fail("the compiler has no room left in {}; free space there or set TMPDIR",
                  folder.path().string());
    entry.error_code = name_failure(outcome);
    if (entry.error_code == "timeout")
      entry.message = fmt::format("the compiler did not end within {} s of processor time", plan_.max_cpu_s);
    return entry;
  }
  auto object = read_file(folder.path() / kObjectFile, plan_.max_object_bytes);
  if (!object) {
    std::error_code code;
    entry.error_code = fs::exists(folder.path() / kObjectFile, code) ? "object_too_large" : "no_object";
    entry.message = object.error().message;
    return entry;
  }
  entry.object = std::move(*object);
  if (const auto report = read_file(folder.path() / "kernel.su", 1 << 20))
    entry.stack_bytes = largest_frame(*report);
  return entry;
}

Result<tl::expected<Binary, Verdict>> Compiler::compile_one(const Source& source, int cpu) const {
  using Outcome = tl::expected<Binary, Verdict>;
  if (source.text.size() > plan_.max_source_bytes)
    return Outcome(tl::unexpected(
        compile_verdict("source_too_large",
                        fmt::format("{} bytes, at most {}", source.text.size(), plan_.max_source_bytes))));
  Binary binary;
  binary.source_hash = source_hash(source);
  std::optional<CacheEntry> entry = cache_.find(binary.source_hash);
  binary.from_cache = entry.has_value();
  if (!entry) {
    KW_TRY(entry, run_compiler(source, cpu));
    // Killed from outside, most likely; once says nothing about the source.
    if (entry->error_code == "compiler_crash") {
      KW_TRY(entry, run_compiler(source, cpu));
    }
    if (!is_of_the_moment(entry->error_code)) KW_TRY_VOID(cache_.put(binary.source_hash, *entry));
  }
  if (!entry->error_code.empty())
    return Outcome(tl::unexpected(compile_verdict(entry->error_code, entry->message)));
  binary.object = std::move(entry->object);
  binary.launch = source.launch;
  binary.compiler = version_;
  binary.compile_us = entry->compile_us;
  binary.hash = hash_parts({binary.object, print_launch(source.launch).dump()});
  binary.facts["object_bytes"] = binary.object.size();
  if (plan_.architecture.empty())
    binary.facts["stack_bytes"] = entry->stack_bytes;
  else
    binary.facts.update(read_ptxas_report(entry->message));
  return Outcome(std::move(binary));
}

void Compiler::limit_cache() const {
  if (runs_->load() - runs_at_eviction_->load() < kEvictEvery) return;
  runs_at_eviction_->store(runs_->load());
  [[maybe_unused]] const int64_t evicted = cache_.evict();
}

Result<CompileBatch::Results> Compiler::compile(const std::vector<Source>& sources) const {
  return CompileBatch(*this, sources, {}).finish(-1);
}

CompileBatch::CompileBatch(const Compiler& compiler, std::vector<Source> sources,
                           const std::vector<int>& cpus)
    : compiler_(compiler), sources_(std::move(sources)), outcomes_(sources_.size(), fail("not compiled")) {
  for (int cpu : cpus) threads_.emplace_back([this, cpu] { work(cpu); });
}

void CompileBatch::work(int cpu) {
  for (size_t i = next_++; i < sources_.size(); i = next_++)
    outcomes_[i] = compiler_.compile_one(sources_[i], cpu);
}

Result<CompileBatch::Results> CompileBatch::finish(int cpu) {
  work(cpu);
  threads_.clear();  // joins
  compiler_.limit_cache();
  Results results;
  for (auto& outcome : outcomes_) {
    if (!outcome) return tl::unexpected(outcome.error());
    results.push_back(std::move(*outcome));
  }
  return results;
}

}  // namespace kw
