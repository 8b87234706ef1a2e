// A model's answer -> a schedule, or free-form code with its launch record, or a named fault. In: text as the
// model wrote it. Out: what the proposer makes a Proposal of. Executes, compiles and fetches nothing; whether
// a schedule is legal is the space's question, whether code is right the verifier's.
//
// Read are a text that is one JSON object, or the fenced blocks of a Markdown text. JSON objects hold any of
//   family, schedule          a schedule's key in a known family
//   launch, source, language  free-form code in one object; an object with "kernels" is a launch record
//   analysis, plan            for people, not read
// Blocks labelled c are C; c++, cpp, cc, cxx and unlabelled ones are C++; json, and unlabelled ones that
// begin with "{", are JSON; other labels are ignored. What a "</think>" line ends is a thought and ignored.
// Which of two blocks is meant is never guessed: the same text twice counts once, two different codes, launch
// records or schedules are a fault.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <variant>

#include "record/launch.h"

namespace kw {

inline constexpr size_t kMaxAnswerBytes = size_t{1} << 20;

enum class AnswerFaultKind {
  kEmpty,     // nothing but white space
  kTooLarge,  // over kMaxAnswerBytes
  kNotUtf8,
  kRefusal,        // no code, and the model says that it will not write any
  kNoCode,         // prose only, or blocks of other languages
  kTruncated,      // a fence or a thought that does not end
  kSeveralBlocks,  // two different things of one kind, or a schedule beside code
  kBadJson,        // with line and column
  kUnknownField,   // with the known ones; also a known one of the wrong type
  kUnknownFamily,
  kMissingSchedule,  // a family without schedule
  kMissingLaunch,    // code without launch record
  kBadLaunch,        // with the field
  kMissingSource,    // a launch record without code, or empty code
};
inline constexpr size_t kAnswerFaultKinds = 14;

// "several_blocks", ...
[[nodiscard]] std::string_view print_answer_fault(AnswerFaultKind kind);

struct AnswerFault {
  AnswerFaultKind kind = AnswerFaultKind::kEmpty;
  std::string reason;  // one line, fit to be sent back to the model
};

struct ScheduleAnswer {
  std::string family, schedule;
  bool operator==(const ScheduleAnswer&) const = default;
};
struct FreeAnswer {
  std::string text;              // lines ended by \n
  std::string language = "c++";  // "c++" or "c"
  LaunchRecord launch;
  bool operator==(const FreeAnswer&) const = default;
};
using Answer = std::variant<ScheduleAnswer, FreeAnswer>;

// `families`: those whose schedules the problem can use.
[[nodiscard]] tl::expected<Answer, AnswerFault> parse_answer(std::string_view text,
                                                             std::span<const std::string> families);

// An answer as a model should write it; parse_answer is the inverse.
[[nodiscard]] std::string print_answer(const Answer& answer);

}  // namespace kw
