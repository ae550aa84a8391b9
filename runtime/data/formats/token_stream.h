// A stream of tokens as the columns "tokens" and "labels", for all formats of token files.
#pragma once

#include "runtime/data/formats/data_format.h"

namespace trainc {

/// Location of a stream of little-endian tokens in a file.
struct TokenStream {
  SafetensorsDType dtype; ///< kU8, kU16 or kU32
  uint64_t fileOffset;    ///< byte offset of the first token
  uint64_t count;
  std::optional<uint64_t> content = {};    ///< XXH3-64 of the file, if the sidecar records one
  std::optional<uint64_t> vocabulary = {}; ///< number of ids of the tokenizer, if the sidecar records one
  std::string warning = {};                ///< doubt about the tokens that does not keep them from being read
};

/// Finds the tokens of the file `path`, which begins with `head` (kForeignHeadBytes of it, or all) and has
/// `fileBytes` bytes. Errors (kInvalidInput) name the file, the byte offset and the sizes expected and found.
using FindTokens = Result<TokenStream>(const std::filesystem::path &path, std::span<const std::byte> head,
                                       uint64_t fileBytes, const TokenFileOptions &options);

/// In llm.c's format, a header of 256 int32 (magic number, version 1 for uint16 or 7 for uint32, number of
/// tokens) precedes the tokens.
FindTokens findLlmcTokens;

/// The width of raw tokens is what `PATH.json`, which `trainc tokenize` writes, says, else what options.dtype
/// says, else what Megatron's index beside `PATH.bin` says, else it follows from options.vocabulary. If there
/// is such a JSON file, the number of tokens must be the one it says, and options.dtype the same. If there is
/// none, files of other kinds are rejected, and text unless options.dtype is kU8. Tokens that are surely of
/// another width are rejected unless that JSON file or options.dtype says the width.
FindTokens findRawTokens;

/// Opens a token file as a format does. Sample i is a window of T+1 tokens from token i*T on; its first T
/// tokens are the tokens, its last T the labels.
Result<std::unique_ptr<DataReader>> openTokens(DataSource source, const std::vector<ColumnSpec> &columns,
                                               const TokenFileOptions &options, FindTokens *find);

} // namespace trainc
