// dlopen and dlsym behind Library. See vendor_library.h.
#include "target/cpu/vendor_library.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>

namespace kw {
namespace {

std::string find_path(void* handle, const std::string& name) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr || map->l_name == nullptr) return name;
  return map->l_name;
}

std::string last_error() {
  const char* text = dlerror();
  return text == nullptr ? "unknown error" : text;
}

}  // namespace

Result<Library> Library::load(const LibrarySource& source) {
  // RTLD_LOCAL: two vendors that carry BLAS symbols of the same name must not see each other's.
  constexpr int kFlags = RTLD_NOW | RTLD_LOCAL;
  if (const char* chosen = std::getenv(source.environment.c_str()); chosen != nullptr && *chosen != '\0') {
    if (void* handle = dlopen(chosen, kFlags)) return Library(handle, find_path(handle, chosen));
    return fail("{}={} cannot be loaded ({}): correct it, or unset it and {}", source.environment, chosen,
                last_error(), source.install);
  }
  std::string reason;
  for (const std::string& file : source.files) {
    if (void* handle = dlopen(file.c_str(), kFlags)) return Library(handle, find_path(handle, file));
    if (reason.empty()) reason = last_error();
  }
  return fail("not found ({}): {}, or set {} to the library's file", reason, source.install,
              source.environment);
}

void* Library::find_address(const char* symbol) const { return dlsym(handle_, symbol); }

}  // namespace kw
