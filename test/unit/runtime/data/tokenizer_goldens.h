// Paths of the tokenizers, and of the numbers written by make_goldens.py.
#pragma once

#include "runtime/data/tokenizer/tokenizer.h"

#include <gtest/gtest.h>
#include <string>

namespace trainc::test {

inline const std::string kTokenizerGoldens = TRAINC_TOKENIZER_GOLDENS;

/// The ids of a text that can be encoded.
inline std::vector<uint32_t> idsOf(Tokenizer &tokenizer, std::string_view text) {
  const Result<std::vector<uint32_t>> ids = tokenizer.encode(text);
  EXPECT_TRUE(ids.ok()) << ids.status().message();
  return ids.ok() ? *ids : std::vector<uint32_t>();
}

} // namespace trainc::test
