#include "ship/certificate.h"

#include "base/check.h"
#include "base/hash.h"

namespace kw {
namespace {

std::string seal(Json certificate) {
  certificate.erase("seal");
  return hash_parts({certificate.dump()});
}

}  // namespace

Json make_certificate(const Evaluation& evaluation, const LaunchRecord& launch, const Timing& timing,
                      const DeviceFacts& device) {
  KW_CHECK(evaluation.verdict.passed() && evaluation.verdict.promoted, "verdict {}",
           evaluation.verdict.code());
  Json json;
  json["certificate"] = 1;
  json["kernel"] = evaluation.binary_hash;
  json["source_hash"] = evaluation.source_hash;
  json["source"] = evaluation.source_text;
  json["launch"] = print_launch(launch);
  json["compiler"] = evaluation.compiler;
  json["protocol"] = kProtocolVersion;
  json["problem"] = evaluation.problem;
  json["verified"] = evaluation.verdict.evidence;
  json["timing"] = {{"baseline", timing.baseline},
                    {"clock", "outside the worker, empty round trip subtracted"},
                    {"mode", timing.mode},
                    {"cache", timing.cache},
                    {"threads", timing.threads},
                    {"median_us", timing.median_us},
                    {"baseline_median_us", timing.baseline_median_us},
                    {"ratio", timing.ratio},
                    {"ratio_low", timing.ratio_low},
                    {"ratio_high", timing.ratio_high},
                    {"latency_us", timing.latency_us},
                    {"baseline_latency_us", timing.baseline_latency_us}};
  json["device"] = print_device(device);
  json["seal"] = seal(json);
  return json;
}

Status check_certificate_hash(const Json& certificate) {
  if (!certificate.is_object() || !certificate.contains("seal") || !certificate["seal"].is_string())
    return fail_user("this is not a certificate: field \"seal\" is missing");
  if (certificate["seal"].get<std::string>() != seal(certificate))
    return fail_user("the certificate was changed after it was written: its seal does not fit its content");
  return {};
}

}  // namespace kw
