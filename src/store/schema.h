// The tables as an ordered list of migrations, and the one function that brings a file up to date.
// In: an open database. Out: the same at the newest schema, or unchanged with an error. doc/store.md says
// what the tables mean.
#pragma once

#include <cstdint>
#include <span>

#include "store/database.h"

namespace kw {

// "KWST": says in the file's header that it is ours.
inline constexpr int64_t kApplicationId = 0x4b575354;

// Migration i takes schema i to i + 1. Never edit one that was released: append.
[[nodiscard]] std::span<const char* const> get_migrations();

// Schema version of an open file: 0 for an empty one. Errors: not ours, newer than `known`, damaged.
[[nodiscard]] Result<int> find_schema_version(Database& database, int known);

// Runs the missing migrations in one transaction.
[[nodiscard]] Status migrate(Database& database, std::span<const char* const> migrations);

// A private copy of a store, brought up to date; the store itself is not changed.
struct MigratedCopy {
  TempFolder folder;  // dies after the database
  std::unique_ptr<Database> database;
};
[[nodiscard]] Result<MigratedCopy> make_migrated_copy(const fs::path& path,
                                                      std::span<const char* const> migrations);

}  // namespace kw
