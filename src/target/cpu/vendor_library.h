// A vendor's shared library, opened at run time. In: file names to try and how to get the library. Out: its
// functions. Used by the vendor_*.cc only. Never closes a library: vendors keep thread pools and generated
// code for the process's life.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace kw {

struct LibrarySource {
  std::string environment;         // variable that names one file to use instead of all others
  std::vector<std::string> files;  // tried in order, with the loader's search path where there is no slash
  std::string install;             // "install the Debian package libdnnl2"
};

class Library {
 public:
  // Tries the source's files; the error says what was tried and how to get the library.
  [[nodiscard]] static Result<Library> load(const LibrarySource& source);

  // Function of the library or of what it depends on; nullptr when it has none of that name.
  template <class Function>
  Function* find(const char* symbol) const {
    return reinterpret_cast<Function*>(find_address(symbol));
  }

  // Sets `function` and returns true, or notes the first missing symbol in `missing` and returns false.
  template <class Function>
  bool bind(Function*& function, const char* symbol, std::string& missing) const {
    function = find<Function>(symbol);
    if (function == nullptr && missing.empty()) missing = symbol;
    return function != nullptr;
  }

  const std::string& path() const { return path_; }

 private:
  Library(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  void* find_address(const char* symbol) const;

  void* handle_;
  std::string path_;
};

}  // namespace kw
