// An encoder as its text describes it, without a family's names for its parts.
#pragma once

#include "lib/Import/Head.h"
#include "lib/Import/Layers.h"

namespace trainc::importer {

/// Types of tokens, such as those of the first and the second text of a pair, added to the embeddings.
struct TokenTypes {
  std::string scope;
  int64_t count = 0;
  bool areColumn = false; ///< whether a column has them; else all are 0
};

struct Encoder : Layers {
  std::string family;       ///< `model_type`
  std::string architecture; ///< as "BertForMaskedLM"

  int64_t vocabulary = 1;
  int64_t maxPositions = 1;

  std::string embedding;
  std::optional<LearnedPositions> positions;
  std::optional<TokenTypes> types;
  std::string embeddingNorm, finalNorm; ///< scopes; empty: none
  Head head;

  /// Number of parameters.
  int64_t parameters() const;
};

} // namespace trainc::importer
