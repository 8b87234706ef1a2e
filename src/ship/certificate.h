// A kernel's certificate: what it is, what it claims, on what it was proved, how fast it was where. Written
// by check and show, read by verify --certificate; later part of packs. The seal is a hash over everything
// else: it shows a byte that changed by accident. It does not show who wrote the file: that is what verifying
// again is for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "record/candidate.h"
#include "record/device.h"
#include "record/measured_family.h"

namespace kw {

// What turned the source into the binary.
struct Toolchain {
  std::string compiler;            // "g++ (Debian 12.2.0-14) 12.2.0"
  std::vector<std::string> flags;  // all of them, in order
  std::string kernelwright;        // our version
  bool operator==(const Toolchain&) const = default;
};

// What was run: `seed` and `tile` give the same inputs and shapes again.
struct Verification {
  uint64_t seed = 0;
  std::vector<int64_t> tile;  // where the code changes path (m, n, k); empty = unknown
  int64_t threads = 1, checks = 0, runs = 0;
  std::vector<MeasuredFamily> families;         // on the problem itself
  std::vector<MeasuredFamily> domain_families;  // on the other shapes
  std::vector<std::string> domain_shapes;
  bool operator==(const Verification&) const = default;
};

struct Certificate {
  std::string kernel;       // hash of object and launch record
  std::string name;         // for people
  std::string family;       // "free", "gemm_cpu"
  std::string schedule;     // empty for "free"
  std::string source_hash;  // of text, language, flags and compiler
  std::string language, source;
  Toolchain toolchain;
  LaunchRecord launch;  // contract, domain, determinism
  int64_t protocol = kProtocolVersion;
  Problem problem;
  Verification verified;
  Timing timing;
  DeviceFacts device;
  std::string date;  // ISO 8601 UTC
};

// From the evidence of a promotion's pass (LiveLab::verify_domain); an error that says what it lacks.
[[nodiscard]] Result<Verification> read_verification(const Json& evidence);

[[nodiscard]] Json print_certificate_json(const Certificate& certificate);  // sealed
// That, indented, with a line end: the only text that parse_certificate takes for these contents.
[[nodiscard]] std::string print_certificate(const Certificate& certificate);

// A user error of one line, `origin` in front, when a field is missing, of the wrong kind or unknown, when
// the seal does not fit, or when the text is not, byte for byte, what print_certificate gives.
[[nodiscard]] Result<Certificate> parse_certificate(std::string_view text, const std::string& origin);

}  // namespace kw
