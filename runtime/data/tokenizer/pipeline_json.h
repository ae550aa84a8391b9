// Reading of the steps of tokenizer.json before and after the model.
#pragma once

#include "runtime/data/tokenizer/tokenizer_definition.h"

#include <nlohmann/json.hpp>

namespace trainc {

/// Reads the normalizer into definition.normalizer. Supported: NFC, NFD, NFKC, NFKD, Lowercase, StripAccents,
/// Prepend, Replace, Strip, Precompiled, Nmt, BertNormalizer, and a Sequence of these. Errors (kInvalidInput)
/// name the piece; so do those of the others.
Status readNormalizer(const nlohmann::json &json, TokenizerDefinition &definition);

/// Reads the pre-tokenizer into definition.preTokenizer, and sets definition.units. Supported: ByteLevel,
/// Split, Metaspace, Whitespace, WhitespaceSplit, Punctuation, Digits, CharDelimiterSplit, BertPreTokenizer,
/// and a Sequence of these.
Status readPreTokenizer(const nlohmann::json &json, TokenizerDefinition &definition);
/// Adds the steps of ByteLevel before a vocabulary of bytes.
Status addByteLevel(bool prefixSpace, bool ownPattern, TokenizerDefinition &definition);

/// Reads the decoder into definition.decoder, after the pre-tokenizer. Supported for a vocabulary of bytes:
/// ByteLevel; else Replace, Metaspace, WordPiece, ByteFallback, Strip and Fuse in an order in which they can
/// run token by token, and none.
Status readDecoder(const nlohmann::json &json, TokenizerDefinition &definition);

} // namespace trainc
