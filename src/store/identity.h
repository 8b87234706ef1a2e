// Row numbers of the things other rows point to, and which run a row comes from. Used by the writers of
// src/store, inside their transaction.
#pragma once

#include <string>
#include <string_view>

#include "record/launch.h"
#include "store/database.h"

namespace kw {

// Find the row of a key or add it.
[[nodiscard]] Result<int64_t> add_device(Database& database, std::string_view key);
[[nodiscard]] Result<int64_t> add_problem(Database& database, std::string_view key);
// By the hash of the text, so that one text is kept once; nothing for an empty text.
[[nodiscard]] Result<std::optional<int64_t>> add_source(Database& database, std::string_view text);
// Nothing for an empty hash. A launch record fills a row that had none.
[[nodiscard]] Result<std::optional<int64_t>> add_binary(Database& database, std::string_view hash,
                                                        const std::optional<LaunchRecord>& launch);

// A run as the rows it brought see it. started and uid order runs alike in every store.
struct RunOrigin {
  int64_t id = 0, device = 0;
  bool imported = false;
  std::string started, uid;
};
[[nodiscard]] Result<RunOrigin> load_run_origin(Database& database, int64_t run);

// JSON as text without exceptions: invalid UTF-8 becomes U+FFFD.
// Text that print_json wrote; an error means that the file is damaged.
[[nodiscard]] Result<Json> load_json(const std::string& text, const Database& database);

// Host time now, ISO 8601 UTC with microseconds, so that what happens in turn sorts in turn.
[[nodiscard]] std::string print_now();

// Text or NULL: an empty string says that there is none.
[[nodiscard]] inline std::optional<std::string_view> value_or_null(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace kw
