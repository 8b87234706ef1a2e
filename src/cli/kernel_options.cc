#include "cli/kernel_options.h"

#include <algorithm>

#include "cli/table.h"

namespace kw {
namespace {

constexpr size_t kMostBytes = 1 << 20;  // of a source or launch record

}  // namespace

void KernelOptions::add_to(CLI::App& command, bool source_is_required) {
  command.add_option("source", source, "C or C++ text of the kernel; see doc/kernel.md")
      ->required(source_is_required);
  command.add_option("--launch", launch, "its launch record, JSON")->required(source_is_required);
  shapes.add_to(command);
  command.add_option("--threads", threads, "cores the kernel may use")->capture_default_str();
}

Result<CheckRequest> KernelOptions::make_request(const CLI::App& command) const {
  CheckRequest request;
  KW_TRY(request.text, read_file(source, kMostBytes));
  request.language = fs::path(source).extension() == ".c" ? "c" : "c++";
  request.name = fs::path(source).filename().string();
  KW_TRY(const std::string launch_text, read_file(launch, kMostBytes));
  KW_TRY(const Json launch_json, parse_json(launch_text, launch));
  auto record = parse_launch(launch_json);
  if (!record) return with_context(record.error(), launch);
  request.launch = std::move(*record);
  ShapeOptions one = shapes;
  if (one.layout.empty()) one.layout = std::string(print_layout(request.launch.layout));
  KW_TRY(const auto uses, one.find_uses());
  if (uses.size() != 1)
    return fail_user("{} takes one shape, {} were given", command.get_name(), uses.size());
  request.problem = uses[0].problem;
  if (request.problem.layout != request.launch.layout)
    return fail_user("--layout {} but {} says {}", print_layout(request.problem.layout), launch,
                     print_layout(request.launch.layout));
  KW_TRY(request.threads, parse_threads(threads));
  request.cache_folder = find_cache_folder() / "objects";
  request.command = print_command(command) + " " + source;
  return request;
}

std::string print_families(const Json& evidence) {
  const auto verified = read_verification(evidence);
  if (!verified || verified->families.empty()) return "";
  const auto& elsewhere = verified->domain_families;
  Table table(
      {"input family", "elements", "largest error", "its bound", "least bound that passes", "other shapes"});
  for (const MeasuredFamily& family : verified->families) {
    const auto other = std::find_if(elsewhere.begin(), elsewhere.end(),
                                    [&](const MeasuredFamily& row) { return row.name == family.name; });
    table.add({family.name, fmt::format("{}", family.compared), fmt::format("{:.3g}", family.error),
               fmt::format("{:.3g}", family.bound), fmt::format("{:.4f} x", family.margin),
               other == elsewhere.end() ? "-" : fmt::format("{:.4f} x", other->margin)});
  }
  return table.print();
}

}  // namespace kw
