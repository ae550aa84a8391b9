#include "runtime/data/formats/megatron_index.h"

#include "base/input_file.h"
#include "base/plain_text.h"
#include "runtime/data/formats/foreign_file.h"

#include <array>
#include <cstring>
#include <fmt/format.h>

namespace trainc {

namespace {

constexpr std::string_view kMagic("MMIDIDX\0\0", 9);
/// Bytes of the magic number, the version, the code of a NumPy type, and the numbers of sequences and of
/// documents. Lengths (int32) and positions (int64) of all sequences follow, then a number (int64) for each
/// document, then, for data with several modes, one byte for each sequence.
constexpr uint64_t kVersionOffset = 9, kCodeOffset = 17, kSequencesOffset = 18, kDocumentsOffset = 26,
                   kHeadBytes = 34;
constexpr uint64_t kVersion = 1;

/// Reads the fields of an index, with errors that say which byte is wrong.
class IndexReader {
public:
  IndexReader(const InputFile &file, const std::filesystem::path &tokens, uint64_t tokenBytes)
      : file_(file), tokens_(tokens), tokenBytes_(tokenBytes) {}

  Result<SafetensorsDType> read() const {
    TRAINC_RETURN_IF_ERROR(checkHead());
    TRAINC_ASSIGN_OR_RETURN(const SafetensorsDType dtype, readDType());
    TRAINC_RETURN_IF_ERROR(checkTokens(dtype));
    return dtype;
  }

private:
  template <typename T> Result<T> at(uint64_t offset) const {
    std::array<std::byte, sizeof(T)> bytes{};
    TRAINC_RETURN_IF_ERROR(file_.read(offset, bytes));
    T value;
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }

  Status checkHead() const {
    std::vector<std::byte> head(std::min<uint64_t>(file_.size(), kHeadBytes));
    TRAINC_RETURN_IF_ERROR(file_.read(0, head));
    const std::string_view text(reinterpret_cast<const char *>(head.data()), head.size());
    if (!text.starts_with(kMagic)) {
      const std::optional<ForeignKind> kind = findForeignKind(file_.path());
      return error("expected an index of Megatron, which begins with MMIDIDX, found {}",
                   text.empty() ? "an empty file"
                   : kind       ? std::string(kind->name)
                                : fmt::format("'{}'", printable(std::string(text.substr(0, kMagic.size())))));
    }
    if (text.size() < kHeadBytes)
      return error("expected an index of Megatron of at least {} bytes, found {}", kHeadBytes, text.size());
    TRAINC_ASSIGN_OR_RETURN(const uint64_t version, at<uint64_t>(kVersionOffset));
    return version == kVersion ? Status()
                               : error("byte {}: expected version {} of Megatron's index, found {}",
                                       kVersionOffset, kVersion, version);
  }

  Result<SafetensorsDType> readDType() const {
    constexpr uint8_t kUint8 = 1, kInt32 = 4, kUint16 = 8;
    TRAINC_ASSIGN_OR_RETURN(const uint8_t code, at<uint8_t>(kCodeOffset));
    switch (code) {
    case kUint8:
      return SafetensorsDType::kU8;
    case kUint16:
      return SafetensorsDType::kU16;
    case kInt32:
      return SafetensorsDType::kU32;
    default:
      return invalidInput(
          "{}: byte {}: expected tokens of uint8 (1), int32 (4) or uint16 (8) in this index of Megatron, "
          "found the type {}; write the tokens of {} as one of these",
          file_.path(), kCodeOffset, code, tokens_.string());
    }
  }

  /// Compares the sizes of both files with what the index says.
  Status checkTokens(SafetensorsDType dtype) const {
    TRAINC_ASSIGN_OR_RETURN(const uint64_t sequences, at<uint64_t>(kSequencesOffset));
    TRAINC_ASSIGN_OR_RETURN(const uint64_t documents, at<uint64_t>(kDocumentsOffset));
    constexpr uint64_t kLength = sizeof(int32_t), kPosition = sizeof(int64_t);
    const bool isCounted = sequences <= file_.size() && documents <= file_.size();
    const uint64_t expected =
        isCounted ? kHeadBytes + sequences * (kLength + kPosition) + documents * sizeof(int64_t) : 0;
    if (!isCounted || (file_.size() != expected && file_.size() != expected + sequences))
      return error("expected the bytes of {} sequences and {} documents{}, found {} bytes", sequences,
                   documents, isCounted ? fmt::format(" ({})", expected) : "", file_.size());
    uint64_t end = 0;
    if (sequences > 0) {
      TRAINC_ASSIGN_OR_RETURN(const uint32_t length, at<uint32_t>(kHeadBytes + (sequences - 1) * kLength));
      TRAINC_ASSIGN_OR_RETURN(const uint64_t begin,
                              at<uint64_t>(kHeadBytes + sequences * kLength + (sequences - 1) * kPosition));
      end = begin + length * elementBytes(dtype);
    }
    if (end == tokenBytes_)
      return {};
    return error("expected the index of {} bytes of tokens, found that of {}", tokenBytes_, end);
  }

  template <typename... Args> Status error(fmt::format_string<Args...> format, Args &&...args) const {
    return invalidInput("{}: {}; copy both files again, or give --data-dtype if this file does not belong "
                        "to {}",
                        file_.path(), fmt::format(format, std::forward<Args>(args)...), tokens_.string());
  }

  const InputFile &file_;
  const std::filesystem::path &tokens_;
  uint64_t tokenBytes_;
};

} // namespace

Result<std::optional<MegatronIndex>> findMegatronIndex(const std::filesystem::path &tokens,
                                                       uint64_t tokenBytes) {
  std::filesystem::path path = tokens;
  path.replace_extension(".idx");
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::symlink_status(path, error);
  if (tokens.extension() != ".bin" || status.type() == std::filesystem::file_type::not_found ||
      error == std::errc::filename_too_long)
    return std::optional<MegatronIndex>();
  TRAINC_ASSIGN_OR_RETURN(const InputFile file, InputFile::open(path));
  TRAINC_ASSIGN_OR_RETURN(const SafetensorsDType dtype, IndexReader(file, tokens, tokenBytes).read());
  return std::optional(MegatronIndex{std::move(path), dtype});
}

} // namespace trainc
