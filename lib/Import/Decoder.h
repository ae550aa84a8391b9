// A decoder as its text describes it, without a family's names for its parts.
#pragma once

#include "lib/Import/Head.h"
#include "lib/Import/Layers.h"

namespace trainc::importer {

struct Decoder : Layers {
  std::string family;       ///< `model_type`
  std::string architecture; ///< as "Qwen3ForCausalLM"
  std::string partOf;       ///< class of the model of pictures and texts whose decoder it is; empty: none

  int64_t vocabulary = 1;
  int64_t maxPositions = 1;

  double embeddingScale = 1;
  double logitsScale = 1; ///< divides the logits
  std::optional<double> logitsSoftcap;
  std::optional<LearnedPositions> positions;

  std::string embedding, finalNorm, head;
  std::string embeddingNorm; ///< scope of a norm after the embedding; empty: none
  bool isTied = false;
  bool hasHeadBias = false;
  std::optional<Head> classifier; ///< in place of logits of the next token

  /// Number of parameters.
  int64_t parameters() const;
};

} // namespace trainc::importer
