// A tensor of a model's weight file, whatever the file's format.
#pragma once

#include "runtime/formats/safetensors_view.h"

#include <memory>

namespace trainc {

/// Computes elements of a tensor whose file stores them in another form, such as quantised or in another
/// order. Thread-safe.
class ElementDecoder {
public:
  virtual ~ElementDecoder() = default;
  /// Computes the elements from `first` on, in row-major order. All of them exist.
  virtual void decode(uint64_t first, std::span<float> elements) const = 0;
};

/// A tensor under its Hugging Face name, with Hugging Face's shape. It lives as long as its file.
struct WeightTensor {
  std::string name;
  SafetensorsDType dtype; ///< of the elements; F32 with a decoder
  std::vector<uint64_t> shape;
  std::string file;                  ///< path, for messages
  uint64_t fileOffset;               ///< offset of the first byte from the start of the file
  std::span<const std::byte> stored; ///< bytes in the file: the elements, unless there is a decoder
  std::shared_ptr<const ElementDecoder> decoder = nullptr;

  WeightTensor(const SafetensorsTensor &tensor, std::string file)
      : name(tensor.name), dtype(tensor.dtype), shape(tensor.shape), file(std::move(file)),
        fileOffset(tensor.fileOffset), stored(tensor.bytes) {}
  WeightTensor(std::string name, SafetensorsDType dtype, std::vector<uint64_t> shape, std::string file,
               uint64_t fileOffset, std::span<const std::byte> stored)
      : name(std::move(name)), dtype(dtype), shape(std::move(shape)), file(std::move(file)),
        fileOffset(fileOffset), stored(stored) {}

  /// Number of elements; 1 for a scalar.
  uint64_t elements() const;
  /// Bytes of all elements.
  uint64_t bytes() const { return elements() * elementBytes(dtype); }
  /// Bytes [offset, offset + count) of the elements, row-major and little-endian: in place, or computed into
  /// `staging`. Both numbers are multiples of the element's size.
  std::span<const std::byte> read(uint64_t offset, uint64_t count, std::vector<std::byte> &staging) const;
};

/// Description for messages: "F32 [2, 3]".
std::string describe(const WeightTensor &tensor);

/// Whether two tensors have the same dtype, shape and elements.
bool sameContent(const WeightTensor &a, const WeightTensor &b);

} // namespace trainc
