// Tensors of graphs, and access to their elements.
#pragma once

#include "test/emulator/libcudnn/descriptor.h"

#include <array>
#include <cstdint>
#include <vector>

namespace trainc::emulator {

using Dimensions = std::array<int64_t, 4>;

struct Tensor {
  int64_t id = 0;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  int64_t alignment = 16;
  Dimensions sizes{}, strides{};
  bool isVirtual = false, isByValue = false;

  int64_t count() const { return sizes[0] * sizes[1] * sizes[2] * sizes[3]; }
  /// Number of elements from the first to the last in memory.
  int64_t hull() const;
  int64_t offset(const Dimensions &at) const {
    return at[0] * strides[0] + at[1] * strides[1] + at[2] * strides[2] + at[3] * strides[3];
  }
  bool isInMemory() const { return !isVirtual && !isByValue; }
  bool operator==(const Tensor &) const = default;
};

/// The tensor of a finalized descriptor.
Tensor tensorOf(const Descriptor &descriptor);

/// Error of the tensor on its own, if any.
std::optional<Refusal> check(const Tensor &tensor);

/// Bytes of an element; 0 if the type is not emulated.
size_t bytesOf(cudnnDataType_t type);

/// Rounds to the nearest value of the type.
float roundedTo(cudnnDataType_t type, float value);

/// Elements in row-major order of the dimensions.
using Elements = std::vector<float>;

/// Calls `visit(at, number)` for all positions in that order.
template <typename Visit> void forEachPlace(const Dimensions &sizes, Visit visit) {
  int64_t number = 0;
  for (int64_t a = 0; a < sizes[0]; ++a)
    for (int64_t b = 0; b < sizes[1]; ++b)
      for (int64_t c = 0; c < sizes[2]; ++c)
        for (int64_t d = 0; d < sizes[3]; ++d)
          visit(Dimensions{a, b, c, d}, number++);
}

/// Reads a tensor from device memory; returns an error text on failure.
std::optional<std::string> readFrom(uint64_t address, const Tensor &tensor, Elements &elements);
/// Rounds and writes a tensor, and marks it as written.
std::optional<std::string> writeTo(uint64_t address, const Tensor &tensor, const Elements &elements);

/// Reads a host scalar.
float readNumber(const void *from, cudnnDataType_t type);

} // namespace trainc::emulator
