#include <cstdio>

#include "base/hash.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/table.h"
#include "loop/certify.h"
#include "store/query.h"

namespace kw {
namespace {

void print_evaluation(const Evaluation& evaluation) {
  const Proposal& proposal = evaluation.proposal;
  std::printf("problem   %s\n", evaluation.problem.c_str());
  std::printf("proposed  by %s%s%s\n", proposal.proposer.c_str(), proposal.note.empty() ? "" : ": ",
              proposal.note.c_str());
  for (const std::string& parent : proposal.parents) std::printf("parent    %s\n", parent.c_str());
  std::printf("compiled  %s, %.0f ms%s\n", evaluation.compiler.c_str(), evaluation.compile_us * 1e-3,
              evaluation.from_cache ? " (from the cache)" : "");
  std::printf("verdict   %s%s\n", evaluation.verdict.code().c_str(),
              evaluation.verdict.promoted ? " (promoted: fresh process, whole domain)" : "");
  std::printf("evidence  %s\n", print_json(evaluation.verdict.evidence, 2).c_str());
  if (!evaluation.timing) return;
  const Timing& timing = *evaluation.timing;
  std::printf("time      %s a call, %s takes %s; speedup %.3f, 99.5 %% interval [%.3f, %.3f]\n",
              print_time(timing.median_us).c_str(), timing.baseline.c_str(),
              print_time(timing.baseline_median_us).c_str(), timing.ratio, timing.ratio_low,
              timing.ratio_high);
  std::printf("samples  ");
  for (double us : timing.latency_us) std::printf(" %.4g", us);
  std::printf(" us\n%s  ", timing.baseline.c_str());
  for (double us : timing.baseline_latency_us) std::printf(" %.4g", us);
  std::printf(" us\n");
}

// Of a chosen kernel: the newest decision that rests on it, with the samples that confirmed it.
Result<Certificate> find_certificate(const Store& store, const std::vector<Evaluation>& evaluations) {
  const std::string& kernel = evaluations.front().binary_hash;
  KW_TRY(const auto decisions, find_decisions(store));
  for (const DecisionRow& row : decisions) {
    if (row.decision.binary_hash != kernel || !row.confirmation) continue;
    for (const Evaluation& evaluation : evaluations)
      if (evaluation.problem == row.decision.problem && evaluation.verdict.promoted)
        return certify(evaluation, *row.confirmation, row.device);
  }
  return fail_user(
      "kernel {} cannot be certified: no shape's decision rests on it (see best); of a kernel of your own, "
      "check --out writes a certificate",
      short_hash(kernel));
}

int write_certificate(const Store& store, const std::vector<Evaluation>& evaluations,
                      const std::string& file) {
  const auto certificate = find_certificate(store, evaluations);
  if (!certificate) return explain(certificate.error());
  if (const auto written = write_file_atomically(file, print_certificate(*certificate)); !written)
    return explain(written.error());
  std::printf("written   %s\n", file.c_str());
  return kExitOk;
}

int run_show(const std::string& path, const std::string& kernel, bool source_only,
             const std::string& certificate) {
  const auto store = Store::open_read_only(path);
  if (!store) return explain(store.error());
  const auto evaluations = find_kernel(*store, kernel);
  if (!evaluations) return explain(evaluations.error());
  if (!certificate.empty()) return write_certificate(*store, *evaluations, certificate);
  const Evaluation& first = evaluations->front();
  if (source_only) {
    std::printf("%s", first.source_text.c_str());
    return kExitOk;
  }
  std::printf("kernel    %s\n", first.binary_hash.c_str());
  std::printf("source    %s\n", first.source_hash.c_str());
  if (!first.proposal.schedule.empty())
    std::printf("schedule  %s: %s\n", first.proposal.family.c_str(), first.proposal.schedule.c_str());
  for (const Evaluation& evaluation : *evaluations) {
    std::printf("\n");
    print_evaluation(evaluation);
  }
  if (!first.source_text.empty()) std::printf("\n%s", first.source_text.c_str());
  return kExitOk;
}

}  // namespace

void add_show(CLI::App& app, int& exit_code) {
  auto* command =
      app.add_subcommand("show", "one kernel: where it came from, verdict with evidence, times, source");
  struct Options {
    std::string store, kernel, certificate;
    bool source = false;
  };
  auto options = std::make_shared<Options>();
  command->add_option("kernel", options->kernel, "its hash or the first digits of it (see best)")->required();
  command->add_flag("--source", options->source, "the source text alone");
  command->add_option("--certificate", options->certificate,
                      "write the certificate of a chosen kernel there");
  add_store_option(*command, options->store);
  command->callback([options, &exit_code] {
    exit_code = run_show(options->store, options->kernel, options->source, options->certificate);
  });
}

}  // namespace kw
