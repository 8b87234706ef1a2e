// fuzz_corpus TARGET FOLDER...: runs every file of the folders through one target, as tests of the ordinary
// build. Each file is shown before it runs, so that the last line names the one that stopped the program.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/file.h"
#include "target.h"

namespace {

using kw::fs::path;

struct Target {
  const char* name;  // of its folders under seeds/ and corpus/
  void (*run)(std::string_view input);
};
constexpr std::array kTargets = {Target{"certificate", kw::fuzz::run_certificate},
                                 Target{"device", kw::fuzz::run_device},
                                 Target{"expression", kw::fuzz::run_expression},
                                 Target{"json", kw::fuzz::run_json},
                                 Target{"launch", kw::fuzz::run_launch},
                                 Target{"llm_answer", kw::fuzz::run_llm_answer},
                                 Target{"measurements", kw::fuzz::run_measurements},
                                 Target{"model", kw::fuzz::run_model},
                                 Target{"object", kw::fuzz::run_object},
                                 Target{"problem", kw::fuzz::run_problem},
                                 Target{"recorded", kw::fuzz::run_recorded},
                                 Target{"schedule", kw::fuzz::run_schedule},
                                 Target{"shapes_csv", kw::fuzz::run_shapes_csv},
                                 Target{"source_rules", kw::fuzz::run_source_rules},
                                 Target{"stored_row", kw::fuzz::run_stored_row}};

std::vector<path> list_files(int count, char** folders) {
  std::vector<path> files;
  for (int i = 0; i < count; ++i)
    if (kw::fs::is_directory(folders[i]))
      for (const auto& entry : kw::fs::directory_iterator(folders[i])) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

int run_files(const Target& target, const std::vector<path>& files) {
  for (const path& file : files) {
    std::printf("%s\n", file.c_str());
    std::fflush(stdout);
    const auto content = kw::read_file(file);
    if (!content) {
      std::fprintf(stderr, "%s\n", content.error().message.c_str());
      return 1;
    }
    target.run(*content);
  }
  std::printf("%s: %zu inputs\n", target.name, files.size());
  return files.empty() ? 1 : 0;  // a test without inputs proves nothing
}

}  // namespace

int main(int argc, char** argv) {
  if (argc >= 3)
    for (const Target& target : kTargets)
      if (std::strcmp(target.name, argv[1]) == 0) return run_files(target, list_files(argc - 2, argv + 2));
  std::fprintf(stderr, "usage: fuzz_corpus TARGET FOLDER...; targets:");
  for (const Target& target : kTargets) std::fprintf(stderr, " %s", target.name);
  std::fprintf(stderr, "\n");
  return 2;
}
