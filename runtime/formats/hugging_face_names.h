// Names of tensors in Hugging Face's files of weights.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// Name of the last layer's weight, which may be that of the embedding (tied).
inline constexpr std::string_view kHeadName = "lm_head.weight";

/// Whether the tensor is a parameter of the last layer, which may be tied to another: kHeadName, GPT-NeoX's
/// `embed_out.weight`, and weights and biases of the decoders of BERT, RoBERTa and ModernBERT.
bool isHeadName(std::string_view name);

/// Names that have one prefix more than `name`, or one less, such as "model." or "bert.", which classes with
/// a head put before the names of the base model; names that a decoder of texts has within a model of
/// pictures and texts ("language_model.model.norm.weight" or "model.language_model.norm.weight"); and these
/// names with BERT's `LayerNorm.gamma` and `LayerNorm.beta` for `LayerNorm.weight` and `LayerNorm.bias`, or
/// the reverse.
std::vector<std::string> otherNames(const std::string &name);

/// Whether the tensor is the table of a model's tokens, to which a head may be tied.
bool isEmbeddingName(std::string_view name);

/// Whether `name` is `end`, or ends with a dot and `end`.
bool endsWithName(std::string_view name, std::string_view end);

/// Whether the tensor is of the part of a model of pictures and texts that reads pictures, or that projects
/// them for the decoder of texts.
bool isOfPictures(std::string_view name);

/// Whether Hugging Face's GPT-2, GPT-NeoX, Llama or BERT stores the tensor, but does not train it: causal
/// masks, rotary frequencies, positions and types of tokens. Checks the shape as well as the name, because a
/// parameter with such a name has another shape.
bool isStoredBuffer(std::string_view name, std::span<const uint64_t> shape);

} // namespace trainc
