#include "ship/certificate.h"

#include <algorithm>

#include "base/hash.h"
#include "record/json_fields.h"

namespace kw {
namespace {

constexpr int64_t kFormat = 2;
constexpr size_t kHashDigits = 64;
constexpr int64_t kMostThreads = 1 << 20;

std::string seal(Json certificate) {
  certificate.erase("seal");
  return hash_parts({print_json(certificate)});
}

Json print_verification(const Verification& verified) {
  return {{"seed", verified.seed},
          {"tile", verified.tile},
          {"threads", verified.threads},
          {"checks", verified.checks},
          {"runs", verified.runs},
          {"families", print_measured(verified.families)},
          {"domain_families", print_measured(verified.domain_families)},
          {"domain_shapes", verified.domain_shapes}};
}

// `fields` may hold more than what is read here.
Result<Verification> take_verification(JsonFields& fields) {
  Verification verified;
  KW_TRY(verified.seed, fields.seed("seed"));
  KW_TRY(verified.tile, fields.integers("tile"));
  KW_TRY(verified.threads, fields.count("threads", kMostThreads));
  KW_TRY(verified.checks, fields.count("checks"));
  KW_TRY(verified.runs, fields.count("runs"));
  KW_TRY(const Json* families, fields.get("families"));
  KW_TRY(verified.families, parse_measured(*families, fields.where() + ".families"));
  KW_TRY(const Json* others, fields.get("domain_families"));
  KW_TRY(verified.domain_families, parse_measured(*others, fields.where() + ".domain_families"));
  KW_TRY(verified.domain_shapes, fields.texts("domain_shapes"));
  return verified;
}

Json print_timing(const Timing& timing) {
  return {{"baseline", timing.baseline},
          {"clock", "outside the worker, empty round trip subtracted"},
          {"mode", timing.mode},
          {"cache", timing.cache},
          {"threads", timing.threads},
          {"median_us", timing.median_us},
          {"baseline_median_us", timing.baseline_median_us},
          {"ratio", timing.ratio},
          {"ratio_low", timing.ratio_low},
          {"ratio_high", timing.ratio_high},
          {"disturbed", timing.disturbed},
          {"note", timing.note},
          {"latency_us", timing.latency_us},
          {"baseline_latency_us", timing.baseline_latency_us}};
}

Result<Timing> parse_timing(const Json& json, const std::string& where, const std::string& kernel) {
  JsonFields fields(json, where);
  KW_TRY_VOID(fields.check_object());
  Timing timing;
  timing.binary_hash = kernel;
  timing.confirmed = true;
  KW_TRY(timing.baseline, fields.text("baseline"));
  KW_TRY_VOID(fields.text("clock"));
  KW_TRY(timing.mode, fields.text("mode"));
  KW_TRY(timing.cache, fields.text("cache"));
  KW_TRY(const int64_t threads, fields.count("threads", kMostThreads));
  timing.threads = static_cast<int>(threads);
  KW_TRY(timing.median_us, fields.number("median_us"));
  KW_TRY(timing.baseline_median_us, fields.number("baseline_median_us"));
  KW_TRY(timing.ratio, fields.number("ratio"));
  KW_TRY(timing.ratio_low, fields.number("ratio_low"));
  KW_TRY(timing.ratio_high, fields.number("ratio_high"));
  KW_TRY(timing.disturbed, fields.boolean("disturbed"));
  KW_TRY(timing.note, fields.text("note"));
  KW_TRY(timing.latency_us, fields.numbers("latency_us"));
  KW_TRY(timing.baseline_latency_us, fields.numbers("baseline_latency_us"));
  KW_TRY_VOID(fields.check_nothing_left());
  return timing;
}

Result<Toolchain> parse_toolchain(const Json& json, const std::string& where) {
  JsonFields fields(json, where);
  KW_TRY_VOID(fields.check_object());
  Toolchain toolchain;
  KW_TRY(toolchain.compiler, fields.text("compiler"));
  KW_TRY(toolchain.flags, fields.texts("flags"));
  KW_TRY(toolchain.kernelwright, fields.text("kernelwright"));
  KW_TRY_VOID(fields.check_nothing_left());
  return toolchain;
}

Result<std::string> take_hash(JsonFields& fields, const char* name) {
  KW_TRY(std::string text, fields.text(name));
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (text.size() != kHashDigits || !std::all_of(text.begin(), text.end(), is_digit))
    return fail_user("{}: field \"{}\" must be a hash of {} hexadecimal digits, not \"{}\"", fields.where(),
                     name, kHashDigits, text.substr(0, kHashDigits));
  return text;
}

Status take_identity(JsonFields& fields, Certificate& certificate) {
  KW_TRY(certificate.kernel, take_hash(fields, "kernel"));
  KW_TRY(certificate.name, fields.text("name"));
  KW_TRY(certificate.family, fields.text("family"));
  KW_TRY(certificate.schedule, fields.text("schedule"));
  KW_TRY(certificate.source_hash, take_hash(fields, "source_hash"));
  KW_TRY(certificate.language, fields.text("language"));
  KW_TRY(certificate.source, fields.text("source"));
  KW_TRY(const Json* toolchain, fields.get("toolchain"));
  KW_TRY(certificate.toolchain, parse_toolchain(*toolchain, fields.where() + ".toolchain"));
  KW_TRY(const Json* launch, fields.get("launch"));
  auto record = parse_launch(*launch);
  if (!record) return with_context(record.error(), fields.where());
  certificate.launch = std::move(*record);
  return {};
}

Status take_proof(JsonFields& fields, Certificate& certificate) {
  KW_TRY(certificate.protocol, fields.integer("protocol"));
  KW_TRY(const std::string problem, fields.text("problem"));
  auto parsed = parse_problem(problem);
  if (!parsed) return with_context(parsed.error(), fields.where());
  certificate.problem = std::move(*parsed);
  KW_TRY(const Json* verified, fields.get("verified"));
  JsonFields inner(*verified, fields.where() + ".verified");
  KW_TRY_VOID(inner.check_object());
  KW_TRY(certificate.verified, take_verification(inner));
  KW_TRY_VOID(inner.check_nothing_left());
  KW_TRY(const Json* timing, fields.get("timing"));
  KW_TRY(certificate.timing, parse_timing(*timing, fields.where() + ".timing", certificate.kernel));
  KW_TRY(const Json* device, fields.get("device"));
  auto facts = parse_device(*device);
  if (!facts) return with_context(facts.error(), fields.where());
  certificate.device = std::move(*facts);
  KW_TRY(certificate.date, fields.text("date"));
  return {};
}

// The first line in which two texts differ, from 1.
int64_t find_differing_line(std::string_view left, std::string_view right) {
  const auto end = std::mismatch(left.begin(), left.end(), right.begin(), right.end()).first;
  return 1 + std::count(left.begin(), end, '\n');
}

}  // namespace

Result<Verification> read_verification(const Json& evidence) {
  JsonFields fields(evidence, "evidence");
  KW_TRY_VOID(fields.check_object());
  return take_verification(fields);
}

Json print_certificate_json(const Certificate& certificate) {
  Json json;
  json["certificate"] = kFormat;
  json["kernel"] = certificate.kernel;
  json["name"] = certificate.name;
  json["family"] = certificate.family;
  json["schedule"] = certificate.schedule;
  json["source_hash"] = certificate.source_hash;
  json["language"] = certificate.language;
  json["source"] = certificate.source;
  json["toolchain"] = {{"compiler", certificate.toolchain.compiler},
                       {"flags", certificate.toolchain.flags},
                       {"kernelwright", certificate.toolchain.kernelwright}};
  json["launch"] = print_launch(certificate.launch);
  json["protocol"] = certificate.protocol;
  json["problem"] = print_problem(certificate.problem);
  json["verified"] = print_verification(certificate.verified);
  json["timing"] = print_timing(certificate.timing);
  json["device"] = print_device(certificate.device);
  json["date"] = certificate.date;
  json["seal"] = seal(json);
  return json;
}

std::string print_certificate(const Certificate& certificate) {
  return print_json(print_certificate_json(certificate), 2) + "\n";
}

Result<Certificate> parse_certificate(std::string_view text, const std::string& origin) {
  KW_TRY(const Json json, parse_json(text, origin));
  JsonFields fields(json, origin);
  KW_TRY_VOID(fields.check_object());
  KW_TRY(const int64_t format, fields.integer("certificate"));
  if (format != kFormat)
    return fail_user("{}: certificate format {}; this program reads format {}", origin, format, kFormat);
  Certificate certificate;
  KW_TRY_VOID(take_identity(fields, certificate));
  KW_TRY_VOID(take_proof(fields, certificate));
  KW_TRY(const std::string sealed, take_hash(fields, "seal"));
  KW_TRY_VOID(fields.check_nothing_left());
  if (sealed != seal(json))
    return fail_user("{}: changed after it was written: the seal does not fit the contents", origin);
  if (const std::string canonical = print_certificate(certificate); canonical != text)
    return fail_user("{}: line {} is not as this program writes it", origin,
                     find_differing_line(text, canonical));
  return certificate;
}

}  // namespace kw
