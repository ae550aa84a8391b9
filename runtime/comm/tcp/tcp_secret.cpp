#include "runtime/comm/tcp/tcp_secret.h"

#include "base/input_file.h"

#include <cstdlib>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <vector>

namespace trainc {

namespace {

constexpr size_t kMinSecretBytes = 16;
constexpr uint64_t kMaxSecretFileBytes = uint64_t{64} << 10; ///< bytes; a larger file is another one
constexpr const char *kSecretAdvice =
    "set TRAINC_SECRET to the same text of at least 16 characters for all ranks, or TRAINC_SECRET_FILE to a "
    "file that holds it, e.g. of 'openssl rand -hex 32'";

unsigned char *raw(std::byte *bytes) { return reinterpret_cast<unsigned char *>(bytes); }

std::string trimmed(const std::string &text) {
  constexpr const char *kSpace = " \t\r\n";
  const size_t begin = text.find_first_not_of(kSpace);
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

} // namespace

TcpDigest drawNonce() {
  TcpDigest nonce{};
  if (RAND_bytes(raw(nonce.data()), static_cast<int>(nonce.size())) != 1)
    std::abort(); // without random numbers no connection can be trusted
  return nonce;
}

TcpDigest authenticate(std::span<const std::byte> key,
                       std::initializer_list<std::span<const std::byte>> parts) {
  std::vector<std::byte> text;
  for (const std::span<const std::byte> part : parts)
    text.insert(text.end(), part.begin(), part.end());
  TcpDigest code{};
  unsigned length = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), raw(text.data()), text.size(),
       raw(code.data()), &length);
  return code;
}

bool isSame(const TcpDigest &a, const TcpDigest &b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

Result<std::string> secretFromEnvironment() {
  const char *text = std::getenv("TRAINC_SECRET"), *name = std::getenv("TRAINC_SECRET_FILE");
  std::string secret = text ? text : "";
  if (!text && !name)
    return invalidInput(
        "ranks of several hosts that no MPI connects need a secret, or anyone could join them: {}",
        kSecretAdvice);
  if (!text) {
    Result<std::string> content = readWholeFile(name, kMaxSecretFileBytes);
    if (!content.ok())
      return invalidInput("TRAINC_SECRET_FILE: {}; {}", content.status().message(), kSecretAdvice);
    secret = std::move(*content);
  }
  secret = trimmed(secret);
  if (secret.size() < kMinSecretBytes)
    return invalidInput("the secret of {} has {} characters; {}", text ? "TRAINC_SECRET" : name,
                        secret.size(), kSecretAdvice);
  return secret;
}

} // namespace trainc
