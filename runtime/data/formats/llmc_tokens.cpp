// Token files as llm.c writes them.
#include "runtime/data/formats/foreign_file.h"
#include "runtime/data/formats/token_stream.h"

#include <algorithm>
#include <cstring>

namespace trainc {

namespace {

/// Bytes of llm.c's header.
constexpr size_t kLlmcHeaderBytes = 1024;

int32_t headerField(std::span<const std::byte> head, size_t index) {
  int32_t value = 0;
  std::memcpy(&value, head.data() + index * sizeof(int32_t), sizeof(int32_t));
  return value;
}

} // namespace

Result<TokenStream> findLlmcTokens(const std::filesystem::path &path, std::span<const std::byte> head,
                                   uint64_t fileBytes, const TokenFileOptions &options) {
  const std::string file = path.string();
  if (fileBytes < kLlmcHeaderBytes)
    return invalidInput("{}: byte {}: the header of llm.c's format takes {} bytes; the file is truncated",
                        file, fileBytes, kLlmcHeaderBytes);
  const int32_t version = headerField(head, 1);
  if (version != 1 && version != 7)
    return invalidInput("{}: byte 4: expected version 1 (uint16) or 7 (uint32) of llm.c's format, found {}",
                        file, version);
  const auto dtype = version == 1 ? SafetensorsDType::kU16 : SafetensorsDType::kU32;
  if (options.dtype && *options.dtype != dtype)
    return invalidInput("{}: byte 4: the header says {}, --data-dtype says {}; leave --data-dtype out", file,
                        tokenDTypeName(dtype), tokenDTypeName(*options.dtype));
  const int32_t count = headerField(head, 2);
  const uint64_t expected = static_cast<uint64_t>(std::max(count, 0)) * elementBytes(dtype);
  if (count < 0 || expected != fileBytes - kLlmcHeaderBytes)
    return invalidInput(
        "{}: byte 8: the header says {} tokens of {} bytes after the first {} bytes, found {} bytes; "
        "the file is truncated or damaged",
        file, count, elementBytes(dtype), kLlmcHeaderBytes, fileBytes - kLlmcHeaderBytes);
  return TokenStream{dtype, kLlmcHeaderBytes, static_cast<uint64_t>(count)};
}

extern const DataFormat kLlmcFormat = {
    .recognises = [](const DataSource &source) { return hasLlmcTokenHeader(source.head); },
    .open =
        [](DataSource source, const std::vector<ColumnSpec> &columns, const TokenFileOptions &options) {
          return openTokens(std::move(source), columns, options, findLlmcTokens);
        },
};

} // namespace trainc
