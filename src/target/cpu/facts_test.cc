// CPU facts: limits of threads, cache sizes from a made-up sysfs folder, plausibility on this machine.
#include "target/cpu/facts.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <fstream>

#include "base/file.h"

namespace kw {
namespace {

void add_cache(const fs::path& folder, int index, const std::string& level, const std::string& type,
               const std::string& size) {
  const fs::path entry = folder / fmt::format("index{}", index);
  fs::create_directories(entry);
  std::ofstream(entry / "level") << level << "\n";
  std::ofstream(entry / "type") << type << "\n";
  std::ofstream(entry / "size") << size << "\n";
}

TEST(CacheBytes, parses_units_and_refuses_the_rest) {
  EXPECT_EQ(parse_cache_bytes("48K"), 48 * 1024);
  EXPECT_EQ(parse_cache_bytes("2M"), 2 * 1024 * 1024);
  EXPECT_EQ(parse_cache_bytes("1G"), int64_t{1} << 30);
  EXPECT_EQ(parse_cache_bytes("512"), 512);
  for (const char* text :
       {"", "K", "-1K", "0K", "48X", "48KB", " 48K", "99999999999999999999", "9999999999999G"}) {
    EXPECT_FALSE(parse_cache_bytes(text)) << text;
  }
}

TEST(CacheSizes, takes_data_and_unified_caches_when_instruction_caches_stand_between) {
  auto folder = TempFolder::make();
  ASSERT_TRUE(folder);
  add_cache(folder->path(), 0, "1", "Data", "48K");
  add_cache(folder->path(), 1, "1", "Instruction", "64K");
  add_cache(folder->path(), 2, "2", "Unified", "2048K");
  add_cache(folder->path(), 3, "3", "Unified", "30M");
  const CacheSizes sizes = load_cache_sizes(folder->path());
  EXPECT_EQ(sizes.l1d_bytes, 48 << 10);
  EXPECT_EQ(sizes.l2_bytes, 2 << 20);
  EXPECT_EQ(sizes.l3_bytes, 30 << 20);
}

TEST(CacheSizes, stay_zero_when_the_folder_is_missing_or_broken) {
  auto folder = TempFolder::make();
  ASSERT_TRUE(folder);
  add_cache(folder->path(), 0, "2", "Unified", "many");
  for (const fs::path& path : {folder->path(), fs::path("/nonexistent")}) {
    const CacheSizes sizes = load_cache_sizes(path);
    EXPECT_EQ(sizes.l1d_bytes, 0);
    EXPECT_EQ(sizes.l2_bytes, 0);
    EXPECT_EQ(sizes.l3_bytes, 0);
  }
}

TEST(CpuFacts, are_plausible_here) {
  const auto facts = find_cpu_facts(1);
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_EQ(facts->target, "cpu");
  EXPECT_FALSE(facts->name.empty());
  EXPECT_TRUE(facts->isa == "avx512" || facts->isa == "avx2" || facts->isa == "none") << facts->isa;
  EXPECT_GE(facts->cores, 1);
  EXPECT_EQ(facts->threads, 1);
  EXPECT_GE(facts->l1d_bytes, 8 << 10);
  EXPECT_LT(facts->l1d_bytes, 8 << 20);
  EXPECT_GT(facts->l2_bytes, facts->l1d_bytes);
  EXPECT_NE(facts->os.find('.'), std::string::npos) << facts->os;
  EXPECT_EQ(facts->peak_gflops, 0);
}

TEST(CpuFacts, refuse_threads_outside_the_usable_cores) {
  const int cores = static_cast<int>(find_usable_cpus().size());
  for (int threads : {0, -1, cores + 1}) {
    const auto facts = find_cpu_facts(threads);
    ASSERT_FALSE(facts);
    EXPECT_EQ(facts.error().kind, ErrorKind::kUser);
    EXPECT_NE(facts.error().message.find(fmt::format("1 to {}", cores)), std::string::npos)
        << facts.error().message;
  }
}

TEST(UsableCpus, follow_the_affinity_mask) {
  const std::vector<int> all = find_usable_cpus();
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  CPU_ZERO(&one);
  CPU_SET(all.back(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  const std::vector<int> narrowed = find_usable_cpus();
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
  EXPECT_EQ(narrowed, std::vector<int>{all.back()});
}

}  // namespace
}  // namespace kw
