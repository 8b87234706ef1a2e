#include "propose/llm_answer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <vector>

#include "propose/answer_blocks.h"

namespace kw {
namespace {

constexpr size_t kMaxReasonBytes = 600;
constexpr size_t kMaxBlocks = 64;
constexpr std::string_view kThoughtStart = "<think>", kThoughtEnd = "</think>";

constexpr std::array<std::string_view, kAnswerFaultKinds> kFaultNames = {
    "empty",         "too_large",      "not_utf8",         "refusal",
    "no_code",       "truncated",      "several_blocks",   "bad_json",
    "unknown_field", "unknown_family", "missing_schedule", "missing_launch",
    "bad_launch",    "missing_source"};

template <class... Args>
tl::unexpected<AnswerFault> fault(AnswerFaultKind kind, fmt::format_string<Args...> reason, Args&&... args) {
  return tl::unexpected(
      AnswerFault{kind, print_line(fmt::format(reason, std::forward<Args>(args)...), kMaxReasonBytes)});
}
using Outcome = tl::expected<void, AnswerFault>;

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos;
}

// Something the answer gives, and the line it begins at.
template <class T>
struct Given {
  T value;
  int64_t line = 0;
};

// What the blocks of one answer give together.
class AnswerParts {
 public:
  explicit AnswerParts(std::span<const std::string> families) : families_(families) {}

  Outcome add_json(const std::string& text, int64_t line);
  Outcome add_source(std::string text, const std::string& language, int64_t line);
  bool empty() const { return !family_ && !schedule_ && !source_ && !launch_; }
  tl::expected<Answer, AnswerFault> finish() const;

 private:
  struct Code {
    std::string text, language;
    bool operator==(const Code&) const = default;
  };

  Outcome add_object(const Json& json, int64_t line);
  Outcome add_launch(const Json& json, int64_t line);

  template <class T>
  static Outcome put(std::optional<Given<T>>& place, T value, const char* what, int64_t line) {
    if (place && !(place->value == value))
      return fault(AnswerFaultKind::kSeveralBlocks,
                   "two different {}, at lines {} and {} of the answer; give the one that is meant", what,
                   place->line, line);
    if (!place) place = Given<T>{std::move(value), line};
    return {};
  }

  std::span<const std::string> families_;
  std::optional<Given<std::string>> family_, schedule_;
  std::optional<Given<Code>> source_;
  std::optional<Given<LaunchRecord>> launch_;
};

Outcome AnswerParts::add_json(const std::string& text, int64_t line) {
  const auto json = parse_json(text, fmt::format("JSON at line {} of the answer", line));
  if (!json) return fault(AnswerFaultKind::kBadJson, "{}", json.error().message);
  if (!json->is_object())
    return fault(AnswerFaultKind::kBadJson, "JSON at line {} of the answer is {}, an object is needed", line,
                 json->type_name());
  return json->contains("kernels") ? add_launch(*json, line) : add_object(*json, line);
}

Outcome AnswerParts::add_object(const Json& json, int64_t line) {
  std::string source, language = "c++";
  for (const auto& [key, value] : json.items()) {
    if (key == "launch") {
      if (auto added = add_launch(value, line); !added) return added;
      continue;
    }
    constexpr std::string_view kTexts[] = {"family", "schedule", "source", "language", "analysis", "plan"};
    if (std::find(std::begin(kTexts), std::end(kTexts), key) == std::end(kTexts))
      return fault(AnswerFaultKind::kUnknownField, "field \"{}\" is not known; known are launch, {}", key,
                   fmt::join(kTexts, ", "));
    if (!value.is_string())
      return fault(AnswerFaultKind::kUnknownField, "field \"{}\" must be a text, it is {}", key,
                   value.type_name());
    const auto& text = value.get_ref<const std::string&>();
    Outcome added;
    if (key == "family" && text != "free") added = put(family_, text, "families", line);
    if (key == "schedule") added = put(schedule_, text, "schedules", line);
    if (!added) return added;
    if (key == "source") source = text;
    if (key == "language") language = text;
  }
  if (language != "c" && language != "c++")
    return fault(AnswerFaultKind::kUnknownField, "language \"{}\" is not known; use c or c++", language);
  if (json.contains("source")) return add_source(std::move(source), language, line);
  return {};
}

Outcome AnswerParts::add_launch(const Json& json, int64_t line) {
  auto launch = parse_launch(json);
  if (!launch) return fault(AnswerFaultKind::kBadLaunch, "{}", launch.error().message);
  return put(launch_, std::move(*launch), "launch records", line);
}

Outcome AnswerParts::add_source(std::string text, const std::string& language, int64_t line) {
  if (is_blank(text))
    return fault(AnswerFaultKind::kMissingSource, "the code at line {} of the answer is empty", line);
  if (text.back() != '\n') text += '\n';
  std::string lines;
  for (const char letter : text) {
    if (letter == '\n') lines.resize(lines.find_last_not_of('\r') + 1);
    lines += letter;
  }
  return put(source_, Code{std::move(lines), language}, "codes", line);
}

tl::expected<Answer, AnswerFault> AnswerParts::finish() const {
  if ((schedule_ || family_) && (source_ || launch_))
    return fault(AnswerFaultKind::kSeveralBlocks,
                 "both a schedule and code or a launch record; give one of the two");
  if (family_ && std::find(families_.begin(), families_.end(), family_->value) == families_.end())
    return fault(AnswerFaultKind::kUnknownFamily, "kernel family \"{}\" is not known; families: {}, free",
                 family_->value, fmt::join(families_, ", "));
  if (family_ && !schedule_)
    return fault(AnswerFaultKind::kMissingSchedule, "family \"{}\" without a field \"schedule\"",
                 family_->value);
  if (schedule_ && !family_)
    return fault(AnswerFaultKind::kUnknownFamily, "a schedule without its field \"family\"; families: {}",
                 fmt::join(families_, ", "));
  if (schedule_) return ScheduleAnswer{family_->value, schedule_->value};
  if (!launch_)
    return fault(AnswerFaultKind::kMissingLaunch,
                 "code at line {} without a launch record; add one as a json block", source_->line);
  if (!source_)
    return fault(AnswerFaultKind::kMissingSource, "a launch record at line {} without code", launch_->line);
  return FreeAnswer{source_->value.text, source_->value.language, launch_->value};
}

// Drops a thought; nullopt when it does not end. Line numbers stay, its line ends are kept.
std::optional<std::string> drop_thought(std::string_view text) {
  size_t end = std::string_view::npos;
  for (size_t at = 0; at < text.size() && end == std::string_view::npos;) {
    const size_t line_end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, line_end - at);
    line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    if (line.ends_with(kThoughtEnd)) end = at + line.size();
    at = line_end + 1;
  }
  const bool begun =
      text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size())).starts_with(kThoughtStart);
  if (end == std::string_view::npos) return begun ? std::nullopt : std::optional(std::string(text));
  const auto lines =
      static_cast<size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
  return std::string(lines, '\n') + std::string(text.substr(end));
}

bool says_no(std::string_view text) {
  constexpr size_t kLooked = 400;  // a refusal comes first
  constexpr std::array<std::string_view, 12> kPhrases = {
      "i can't",     "i cannot", "i can not",  "i'm sorry", "i am sorry",   "i'm unable",
      "i am unable", "i won't",  "i will not", "as an ai",  "can't assist", "cannot assist"};
  std::string start;
  for (size_t i = 0; i < text.size() && start.size() < kLooked; ++i) {
    const bool curly = text.substr(i, 3) == "\xe2\x80\x99";  // right single quotation mark
    start += curly ? '\'' : static_cast<char>(std::tolower(static_cast<unsigned char>(text[i])));
    i += curly ? 2 : 0;
  }
  return std::any_of(kPhrases.begin(), kPhrases.end(),
                     [&](std::string_view phrase) { return start.find(phrase) != std::string::npos; });
}

std::string_view find_first_text(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
}

Outcome add_block(const AnswerBlock& block, AnswerParts& parts) {
  constexpr std::string_view kCpp[] = {"c++", "cpp", "cc", "cxx", ""};
  if (!block.closed)
    return fault(AnswerFaultKind::kTruncated, "the block opened at line {} of the answer is not closed",
                 block.line);
  if (block.label == "json" || (block.label.empty() && find_first_text(block.content).starts_with('{')))
    return parts.add_json(block.content, block.line);
  if (block.label == "c") return parts.add_source(block.content, "c", block.line);
  if (std::find(std::begin(kCpp), std::end(kCpp), block.label) != std::end(kCpp))
    return parts.add_source(block.content, "c++", block.line);
  return {};
}

tl::expected<Answer, AnswerFault> parse_blocks(std::string_view text, std::span<const std::string> families) {
  const std::vector<AnswerBlock> blocks = find_answer_blocks(text);
  if (blocks.size() > kMaxBlocks)
    return fault(AnswerFaultKind::kSeveralBlocks, "{} fenced blocks, at most {} are read", blocks.size(),
                 kMaxBlocks);
  AnswerParts parts(families);
  std::vector<std::string_view> labels;
  for (const AnswerBlock& block : blocks) {
    labels.push_back(block.label);
    if (auto added = add_block(block, parts); !added) return tl::unexpected(std::move(added).error());
  }
  if (!parts.empty()) return parts.finish();
  if (says_no(text)) return fault(AnswerFaultKind::kRefusal, "the model refuses: {}", find_first_text(text));
  return fault(AnswerFaultKind::kNoCode,
               "no schedule and no code; give a json, c or c++ block (blocks found: {})",
               labels.empty() ? "none" : fmt::format("{}", fmt::join(labels, ", ")));
}

}  // namespace

std::string_view print_answer_fault(AnswerFaultKind kind) { return kFaultNames[static_cast<size_t>(kind)]; }

tl::expected<Answer, AnswerFault> parse_answer(std::string_view text, std::span<const std::string> families) {
  if (text.size() > kMaxAnswerBytes)
    return fault(AnswerFaultKind::kTooLarge, "{} bytes, at most {} are read", text.size(), kMaxAnswerBytes);
  if (!is_utf8(text)) return fault(AnswerFaultKind::kNotUtf8, "the answer is not UTF-8");
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  if (is_blank(text)) return fault(AnswerFaultKind::kEmpty, "the answer is empty");
  const auto read = [&](std::string_view said) -> tl::expected<Answer, AnswerFault> {
    if (!find_first_text(said).starts_with('{')) return parse_blocks(said, families);
    AnswerParts parts(families);
    const auto line = 1 + std::count(said.begin(), find_first_text(said).begin(), '\n');
    if (auto added = parts.add_json(std::string(find_first_text(said)), line); !added)
      return tl::unexpected(std::move(added).error());
    if (parts.empty()) return fault(AnswerFaultKind::kNoCode, "the JSON gives no schedule and no code");
    return parts.finish();
  };
  if (find_first_text(text).starts_with('{')) return read(text);
  const auto said = drop_thought(text);
  if (!said) return fault(AnswerFaultKind::kTruncated, "the thought that begins the answer does not end");
  if (is_blank(*said)) return fault(AnswerFaultKind::kEmpty, "the answer ends with its thought");
  return read(*said);
}

std::string print_answer(const Answer& answer) {
  if (const auto* schedule = std::get_if<ScheduleAnswer>(&answer))
    return fmt::format("```json\n{}\n```\n",
                       Json{{"family", schedule->family}, {"schedule", schedule->schedule}}.dump());
  const auto& free = std::get<FreeAnswer>(answer);
  const Json launch = print_launch(free.launch);
  if (free.text.find(kThoughtEnd) != std::string::npos)  // would be read as the end of a thought
    return Json{{"language", free.language}, {"source", free.text}, {"launch", launch}}.dump() + "\n";
  size_t longest = 2;
  for (size_t at = 0; (at = free.text.find('`', at)) != std::string::npos;) {
    const size_t end = std::min(free.text.find_first_not_of('`', at), free.text.size());
    longest = std::max(longest, end - at);
    at = end;
  }
  const std::string fence(longest + 1, '`');
  return fmt::format("{0}{1}\n{2}{0}\n\n```json\n{3}\n```\n", fence, free.language == "c" ? "c" : "cpp",
                     free.text, launch.dump(2));
}

}  // namespace kw
