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

/// Images, cut into patches. Each patch becomes a position, after the one from which classes are told.
struct Images {
  int64_t channels = 1;
  int64_t height = 1, width = 1;           ///< pixels
  int64_t patchHeight = 1, patchWidth = 1; ///< of a patch, which divide those of the image
  std::string patches;                     ///< scope of the layer that reads patches
  std::string classToken, positions;       ///< full names of parameters

  int64_t rows() const { return height / patchHeight; }
  int64_t columns() const { return width / patchWidth; }
  int64_t count() const { return rows() * columns(); }
  int64_t patchSize() const { return channels * patchHeight * patchWidth; }
};

/// An encoder of texts, or of images.
struct Encoder : Layers {
  std::string family;       ///< `model_type`
  std::string architecture; ///< as "BertForMaskedLM"

  // Texts; an encoder of images has `images` instead.
  int64_t vocabulary = 1;
  int64_t maxPositions = 1;
  std::string embedding;
  std::optional<LearnedPositions> positions;
  std::optional<TokenTypes> types;

  std::optional<Images> images;

  std::string embeddingNorm, finalNorm; ///< scopes; empty: none
  Head head;

  /// Number of parameters.
  int64_t parameters() const;
};

} // namespace trainc::importer
