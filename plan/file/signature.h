// Signatures of plans: Ed25519, in a file beside the plan.
#pragma once

#include "base/status.h"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

struct evp_pkey_st; // OpenSSL's EVP_PKEY

namespace trainc {

/// Path of a plan's signature: "gpt.plan.sig" for "gpt.plan".
std::filesystem::path signaturePath(const std::filesystem::path &plan);

/// Signs the bytes of the plan file with the private key in `key` (PEM, as made by `openssl genpkey
/// -algorithm ed25519`), and writes the signature file. Fails with kInvalidInput if the file is not a plan,
/// the key of another kind, or the signature file something else.
Status signPlan(const std::filesystem::path &plan, const std::filesystem::path &key);

/// Trusted public keys.
class TrustedKeys {
public:
  /// Reads a file of one or more public keys in PEM (as made by `openssl pkey -pubout`). Fails with
  /// kInvalidInput if there are none, or if one is not Ed25519.
  static Result<TrustedKeys> open(const std::filesystem::path &path);

  /// Fails with kInvalidInput unless the signature beside `plan` is a signature of `content` by one of the
  /// keys.
  Status check(const std::filesystem::path &plan, std::span<const std::byte> content) const;

private:
  struct Free {
    void operator()(evp_pkey_st *key) const;
  };
  friend Status signPlan(const std::filesystem::path &plan, const std::filesystem::path &key);
  using Key = std::unique_ptr<evp_pkey_st, Free>;

  std::string path_;
  std::vector<Key> keys_;
};

} // namespace trainc
