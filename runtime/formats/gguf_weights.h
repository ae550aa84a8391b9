// A GGUF file's tensors as Hugging Face has them.
#pragma once

#include "runtime/formats/gguf_file.h"
#include "runtime/formats/weight_tensor.h"

namespace trainc {

/// The tensors of `file` under Hugging Face's names (gguf_names.h), with its shapes and its order of
/// elements. Tensors that llama.cpp computes from the configuration are left out; a tensor that the table of
/// the family lacks keeps its name. Quantised elements become f32 as they are read. Fails with kInvalidInput
/// if `general.architecture` is unknown, if the type of a tensor is not decodable, or if heads do not divide
/// a tensor. The result refers to bytes of the file.
Result<std::vector<WeightTensor>> huggingFaceTensors(const GgufFile &file);

} // namespace trainc
