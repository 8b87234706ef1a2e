#include "cli/version.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <seccomp.h>
#include <sqlite3.h>

#include "record/candidate.h"

namespace kw {

std::string print_version() {
  const scmp_version* seccomp = seccomp_version();
  return fmt::format(
      "kernelwright {}\n"
      "protocol {}, built with {} {}, flags \"{}\"\n"
      "libraries: SQLite {}, {}, fmt {}, libseccomp {}.{}.{}\n"
      "targets: cpu, cuda, recorded",
      KW_VERSION, kProtocolVersion, KW_COMPILER, __VERSION__, KW_BUILD_FLAGS, sqlite3_libversion(),
      OpenSSL_version(OPENSSL_VERSION), FMT_VERSION, seccomp->major, seccomp->minor, seccomp->micro);
}

}  // namespace kw
