// Names of tensors in GGUF files, Hugging Face's names for them, and what the conversion to GGUF changes.
#pragma once

#include "runtime/formats/gguf_file.h"

namespace trainc {

/// A change by llama.cpp's converter to the values of a Hugging Face tensor.
enum class GgufChange {
  kNone,
  kRotaryQueries, ///< rows of each head: the two halves that rotary positions pair are interleaved
  kRotaryKeys,    ///< the same with the number of key heads
  kPlusOne,       ///< 1 is added: the model multiplies by one plus its weight
  kTransposed,    ///< [in, out] becomes [out, in]
  kFusedHeads,    ///< groups of queries, a key and a value become all queries, all keys, all values
};

/// A tensor's name in the other format.
struct GgufRename {
  std::string name;
  GgufChange change;
};

/// Names of the tensors of an architecture ("llama", "gemma3", ...), or of its models that have a certain
/// tensor.
class GgufFamily;

/// The family of a file by its `general.architecture` and its tensors, or null.
const GgufFamily *findGgufFamily(const GgufFile &file);

/// The family with the GGUF names of all models of an architecture, or null. Hugging Face's names of a file's
/// tensors may depend on its other tensors.
const GgufFamily *findGgufFamily(std::string_view architecture);

/// All architectures with a table of names, comma-separated, for messages.
std::string ggufFamilies();

/// Hugging Face's name for a tensor of a GGUF file ("blk.3.attn_q.weight"), or nothing if the family has no
/// such tensor.
std::optional<GgufRename> huggingFaceName(const GgufFamily &family, std::string_view name);

/// The inverse: the name in a GGUF file of a Hugging Face tensor, or nothing.
std::optional<GgufRename> ggufName(const GgufFamily &family, std::string_view name);

/// Whether a tensor of a GGUF file is computed from the model's configuration, so that Hugging Face stores
/// none.
bool isComputedInGguf(std::string_view name);

} // namespace trainc
