#include "plan/file/signature.h"

#include "base/file.h"
#include "base/input_file.h"
#include "base/output_file.h"
#include "base/plain_text.h"
#include "plan/file/file.h"

#include <algorithm>
#include <array>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <optional>

namespace trainc {

namespace {

constexpr size_t kSignatureBytes = 64;
constexpr const char *kMakeKey = "make a pair with 'openssl genpkey -algorithm ed25519 -out key.pem' and "
                                 "'openssl pkey -in key.pem -pubout -out keys.pem'";

struct FreeBio {
  void operator()(BIO *bio) const { BIO_free(bio); }
};
struct FreeContext {
  void operator()(EVP_MD_CTX *context) const { EVP_MD_CTX_free(context); }
};
struct FreeBytes {
  void operator()(unsigned char *bytes) const { OPENSSL_free(bytes); }
};
using Bio = std::unique_ptr<BIO, FreeBio>;
using Context = std::unique_ptr<EVP_MD_CTX, FreeContext>;

const unsigned char *bytesOf(std::span<const std::byte> content) {
  return reinterpret_cast<const unsigned char *>(content.data());
}

/// One block of a PEM file.
struct Block {
  std::string name; ///< "PUBLIC KEY"
  std::unique_ptr<unsigned char, FreeBytes> data;
  long size = 0;
};

/// Nothing at the end, or if the file is damaged.
std::optional<Block> nextBlock(const Bio &bio) {
  char *name = nullptr, *header = nullptr;
  unsigned char *data = nullptr;
  Block block;
  if (PEM_read_bio(bio.get(), &name, &header, &data, &block.size) != 1)
    return std::nullopt;
  block.name = name;
  block.data.reset(data);
  OPENSSL_free(name);
  OPENSSL_free(header);
  return block;
}

/// A read-only BIO on the text, which must outlive it.
Bio bioOf(const std::string &text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

Result<std::string> readKeyFile(const std::filesystem::path &path) {
  constexpr uint64_t kMaxKeyBytes = uint64_t{1} << 20;
  return readWholeFile(path, kMaxKeyBytes);
}

Status checkKind(const std::filesystem::path &path, const EVP_PKEY *key) {
  if (EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519)
    return {};
  const char *kind = EVP_PKEY_get0_type_name(key);
  return invalidInput("{}: expected an Ed25519 key, found one of {}; {}", path.string(),
                      kind ? kind : "an unknown kind", kMakeKey);
}

} // namespace

void TrustedKeys::Free::operator()(evp_pkey_st *key) const { EVP_PKEY_free(key); }

std::filesystem::path signaturePath(const std::filesystem::path &plan) { return plan.string() + ".sig"; }

Status signPlan(const std::filesystem::path &plan, const std::filesystem::path &key) {
  TRAINC_ASSIGN_OR_RETURN(const std::string content, readWholeFile(plan, kMaxPlanFileBytes));
  const auto bytes = std::as_bytes(std::span(content));
  TRAINC_RETURN_IF_ERROR(readPlan(bytes, plan.string()).status());
  TRAINC_ASSIGN_OR_RETURN(const std::string text, readKeyFile(key));
  const TrustedKeys::Key own(PEM_read_bio_PrivateKey(bioOf(text).get(), nullptr, nullptr, nullptr));
  if (!own)
    return invalidInput("{}: expected a private key in PEM, found none that can be read; {}", key.string(),
                        kMakeKey);
  TRAINC_RETURN_IF_ERROR(checkKind(key, own.get()));
  const std::filesystem::path output = signaturePath(plan);
  if (const uint64_t bytes = bytesToLose(output); bytes > 0 && bytes != kSignatureBytes)
    return otherContent("", output, "a signature");
  std::array<unsigned char, kSignatureBytes> signature{};
  size_t size = signature.size();
  const Context context(EVP_MD_CTX_new());
  if (EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, own.get()) != 1 ||
      EVP_DigestSign(context.get(), signature.data(), &size, bytesOf(bytes), bytes.size()) != 1)
    return failed("{}: cannot sign: {}", plan.string(), ERR_reason_error_string(ERR_get_error()));
  const std::array<std::span<const std::byte>, 1> parts = {std::as_bytes(std::span(signature))};
  return writeFileAtomically(output, parts);
}

Result<TrustedKeys> TrustedKeys::open(const std::filesystem::path &path) {
  TRAINC_ASSIGN_OR_RETURN(const std::string text, readKeyFile(path));
  TrustedKeys trusted;
  trusted.path_ = path.string();
  const Bio bio = bioOf(text);
  ERR_clear_error();
  while (const std::optional<Block> block = nextBlock(bio)) {
    const unsigned char *data = block->data.get();
    Key key(block->name == PEM_STRING_PUBLIC ? d2i_PUBKEY(nullptr, &data, block->size) : nullptr);
    if (!key)
      return invalidInput(
          "{}: expected public keys in PEM, found {}; {}", path.string(),
          block->name == PEM_STRING_PUBLIC ? "one that cannot be read" : printable(block->name), kMakeKey);
    TRAINC_RETURN_IF_ERROR(checkKind(path, key.get()));
    trusted.keys_.push_back(std::move(key));
  }
  const bool atEnd = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (trusted.keys_.empty() || !atEnd)
    return invalidInput("{}: expected public keys in PEM, found {}; {}", path.string(),
                        atEnd ? "none" : "one that cannot be read", kMakeKey);
  return trusted;
}

Status TrustedKeys::check(const std::filesystem::path &plan, std::span<const std::byte> content) const {
  const std::filesystem::path path = signaturePath(plan);
  const Result<std::string> signature = readWholeFile(path);
  if (!signature.ok())
    return invalidInput(
        "{}: is not signed, and --trust runs only plans that are: {}; sign it with 'trainc sign', "
        "or leave --trust out if you trust it anyway",
        plan.string(), signature.status().message());
  const auto *bytes = reinterpret_cast<const unsigned char *>(signature->data());
  const bool known = std::ranges::any_of(keys_, [&](const Key &key) {
    const Context context(EVP_MD_CTX_new());
    return EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
           EVP_DigestVerify(context.get(), bytes, signature->size(), bytesOf(content), content.size()) == 1;
  });
  ERR_clear_error();
  if (known)
    return {};
  return invalidInput(
      "{}: the signature in {} is not of this file by a key in {}: the plan was changed or compiled "
      "again, or somebody else signed it; sign it again if you trust it",
      plan.string(), path.string(), path_);
}

} // namespace trainc
