// A GGUF file's tensors as Hugging Face has them.
#pragma once

#include "runtime/formats/gguf_file.h"
#include "runtime/formats/gguf_names.h"
#include "runtime/formats/weight_tensor.h"

namespace trainc {

/// The tensors of `file` under Hugging Face's names (gguf_names.h), with its shapes and its order of
/// elements. Tensors that llama.cpp computes from the configuration are left out; a tensor that the table of
/// the family lacks keeps its name. Quantised elements become f32 as they are read. Fails with kInvalidInput
/// if `general.architecture` is unknown, if the type of a tensor is not decodable, or if heads do not divide
/// a tensor. The result refers to bytes of the file.
Result<std::vector<WeightTensor>> huggingFaceTensors(const GgufFile &file);

/// Numbers of heads of an attention.
struct GgufHeads {
  uint64_t queries = 1, keys = 1;
};

/// The heads that the metadata of `file` say. Fails with kInvalidInput if they say none, or if the number of
/// key heads does not divide that of queries.
Result<GgufHeads> ggufHeads(const GgufFile &file, std::string_view architecture);

/// Number of equal parts that the rows of a tensor must have whose rows `change` permutes; 1 for others.
uint64_t rowParts(GgufChange change, GgufHeads heads);

/// The row of a GGUF tensor of `rows` rows that holds row `row` of the Hugging Face tensor. `change` permutes
/// rows, and rowParts() divides `rows`.
uint64_t storedRow(GgufChange change, GgufHeads heads, uint64_t rows, uint64_t row);

} // namespace trainc
