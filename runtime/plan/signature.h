// Signatures of plans: Ed25519, in a file beside the plan.
#pragma once

#include "runtime/base/status.h"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

struct evp_pkey_st; // OpenSSL's EVP_PKEY

namespace trainc {

/// Where the signature of a plan is: "gpt.plan.sig" of "gpt.plan".
std::filesystem::path signaturePath(const std::filesystem::path &plan);

/// Writes the signature of the plan's file, as its bytes are, with the private key in `key` (PEM, as of
/// `openssl genpkey -algorithm ed25519`). Fails (kInvalidInput) where the file is no plan or the key of
/// another kind.
Status signPlan(const std::filesystem::path &plan, const std::filesystem::path &key);

/// Public keys whose owners are trusted.
class TrustedKeys {
public:
  /// Reads a file of one or more public keys in PEM (as of `openssl pkey -pubout`). Fails (kInvalidInput)
  /// where there is none, or one of another kind than Ed25519.
  static Result<TrustedKeys> open(const std::filesystem::path &path);

  /// Fails (kInvalidInput) unless the signature beside `plan` is of `content`, by one of the keys.
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
