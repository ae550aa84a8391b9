// Writes a checkpoint as a GGUF file: `trainc export -o FILE.gguf`.
#pragma once

#include "runtime/formats/gguf_writer.h"
#include "runtime/state/weight_writer.h"

namespace trainc {

/// The type of matrices in the GGUF file of a model whose weights are `like`: that of most elements of
/// `like`, or F16 if trainc cannot encode that type.
const GgufTensorType &usualGgufType(const WeightFiles &like);

/// Rows of the embedding of `like`, which are the ids of its tokens. Fails with kInvalidInput if it has none.
Result<uint64_t> embeddingRows(const WeightFiles &like);

/// A tensor that llama.cpp's converter computes from the configuration.
struct GgufComputedTensor {
  GgufOutputTensor tensor;
  std::vector<std::byte> stored;
};

/// All of a GGUF file but its weights.
struct GgufMetadata {
  GgufHeader header;
  std::vector<GgufComputedTensor> computed;
};

/// Adds the metadata that say what the config.json in the folder `like` does, or all of the GGUF file `like`.
/// Fails (kInvalidInput) if GGUF cannot represent what the model computes, or if the config.json of `source`
/// computes something else.
Status addModelMetadata(const WeightSource &source, const std::filesystem::path &like,
                        const GgufTensorType &type, GgufMetadata &metadata);

/// Writes the GGUF file `output`: the weights of `source`, paired with those of `like` (a folder or a GGUF
/// file, see export_pairs.h), with the names, shapes and order of rows that llama.cpp's converter gives them,
/// and with `metadata`. Vectors and position embeddings are F32, matrices are of `type`, or F16
/// if their rows are no whole blocks of it. The file is complete and was compared with what was to be
/// written, or is absent.
///
/// Fails with kInvalidInput if tensors do not pair, if GGUF has no name for one, or if a number is NaN,
/// infinite, or too large for its type; with kFailed if the file cannot be written.
Status exportGguf(const WeightSource &source, const std::filesystem::path &like,
                  const std::filesystem::path &output, const GgufMetadata &metadata,
                  const GgufTensorType &type, const WeightWriterOptions &options);

} // namespace trainc
