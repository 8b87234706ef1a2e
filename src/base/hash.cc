#include "base/hash.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <cstdint>
#include <memory>

#include "base/check.h"

namespace kw {
namespace {

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    KW_CHECK(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1,
             "SHA-256 not available");
  }
  void add(const void* data, size_t size) {
    KW_CHECK(EVP_DigestUpdate(context_.get(), data, size) == 1, "{} bytes", size);
  }
  std::string hex() {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    KW_CHECK(EVP_DigestFinal_ex(context_.get(), digest, &size) == 1, "digest size {}", size);
    std::string text;
    for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
    return text;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

std::string hash_parts(std::initializer_list<std::string_view> parts) {
  Sha256 sha;
  for (std::string_view part : parts) {
    const uint64_t size = part.size();
    sha.add(&size, sizeof size);
    sha.add(part.data(), part.size());
  }
  return sha.hex();
}

std::string hash_bytes(std::span<const std::byte> bytes) {
  Sha256 sha;
  sha.add(bytes.data(), bytes.size());
  return sha.hex();
}

}  // namespace kw
