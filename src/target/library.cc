#include "target/library.h"

#include <dlfcn.h>
#include <link.h>

namespace kw {

std::optional<std::string> find_library(const std::vector<std::string>& sonames) {
  for (const std::string& soname : sonames) {
    void* handle = ::dlopen(soname.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (handle == nullptr) continue;
    link_map* map = nullptr;
    const bool known = ::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr;
    std::string path = known ? map->l_name : soname;
    ::dlclose(handle);
    return path;
  }
  return std::nullopt;
}

}  // namespace kw
