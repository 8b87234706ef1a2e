// What a Store holds. Private to src/store and its tests.
#pragma once

#include <memory>

#include "store/database.h"
#include "store/store.h"

namespace kw {

struct Store::Impl {
  std::unique_ptr<Database> database;
};

}  // namespace kw
