#include <cstdio>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "selftest/selftest.h"

namespace kw {
namespace {

struct SelftestOptions {
  std::string target = "cpu";
  std::vector<std::string> sections;
  std::string only;
  bool full = false, json = false, list = false;
};

std::string print_row(const SelftestRow& row) {
  std::string line = fmt::format("{:4}  {:10} {:38} {:42} {:14} {:7.0f} ms", row.ok ? "ok" : "FAIL",
                                 row.section, row.name, row.expected, row.caught, row.seconds * 1e3);
  if (!row.ok) line += fmt::format("\n      got {} {}", row.got, print_json(row.evidence));
  return line;
}

Json print_rows(const SelftestSection& section) {
  Json rows = Json::array();
  for (const SelftestRow& row : section.rows)
    rows.push_back({{"name", row.name},
                    {"expected", row.expected},
                    {"got", row.got},
                    {"caught", row.caught},
                    {"ok", row.ok},
                    {"seconds", row.seconds},
                    {"evidence", row.evidence}});
  return rows;
}

Json print_sections(const std::vector<SelftestSection>& sections) {
  Json json = {{"sections", Json::array()}};
  bool ok = !sections.empty();
  for (const SelftestSection& section : sections) {
    ok = ok && section.ok();
    json["sections"].push_back({{"name", section.name},
                                {"ok", section.ok()},
                                {"items", section.rows.size()},
                                {"passed", section.passed()},
                                {"skipped", section.skipped},
                                {"seconds", section.seconds},
                                {"measured", section.measured},
                                {"rows", print_rows(section)}});
  }
  json["ok"] = ok;
  return json;
}

std::string print_summary(const std::vector<SelftestSection>& sections) {
  std::string text = "\n";
  for (const SelftestSection& section : sections) {
    text += fmt::format("{:4}  {:10} {} of {} as expected", section.ok() ? "ok" : "FAIL", section.name,
                        section.passed(), section.rows.size());
    text += fmt::format(", {:.1f} s\n", section.seconds);
    for (const std::string& item : section.skipped) text += fmt::format("      skipped: {}\n", item);
  }
  return text;
}

void print_list(const std::string& target) {
  for (const SelftestTopic& topic : list_selftest_sections(target))
    std::printf("%-10s %s\n", topic.name.c_str(), topic.shows.c_str());
}

int run_selftest_command(const SelftestOptions& options) {
  if (options.list) return print_list(options.target), kExitOk;
  catch_interrupts();
  SelftestPlan plan;
  plan.depth = options.full ? kFull : kShort;
  plan.target = options.target;
  plan.sections = options.sections;
  plan.only = options.only;
  plan.should_stop = [] { return was_interrupted(); };
  if (!options.json) {
    plan.report = [](const SelftestRow& row) {
      std::printf("%s\n", print_row(row).c_str());
      std::fflush(stdout);
    };
  }
  const auto sections = run_selftest(plan);
  if (!sections) return explain(sections.error());
  const Json json = print_sections(*sections);
  std::printf("%s", options.json ? (print_json(json, 2) + "\n").c_str() : print_summary(*sections).c_str());
  if (was_interrupted()) return kExitInterrupted;
  return json["ok"].get<bool>() ? kExitOk : kExitRefused;
}

}  // namespace

void add_selftest(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "selftest", "can this bench be fooled? wrong, right and cheating kernels, planted wins, faults");
  auto options = std::make_shared<SelftestOptions>();
  command->add_option("section", options->sections, "sections to run (all)");
  command->add_option("--target", options->target, "cpu or cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  command->add_option("--only", options->only, "the one item of this name");
  command->add_flag("--full", options->full, "as deep as the published bars (about a quarter of an hour)");
  command->add_flag("--list", options->list, "what the sections are");
  command->add_flag("--json", options->json, "one JSON document");
  command->callback([options, &exit_code] { exit_code = run_selftest_command(*options); });
}

}  // namespace kw
