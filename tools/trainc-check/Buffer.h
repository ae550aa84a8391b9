// Memory that compiled kernels work on.
#pragma once

#include "lib/Reference/Tensor.h"

#include <cstddef>
#include <memory>

namespace trainc::check {

/// A tensor in the kernels' memory format, aligned to 64 bytes: i1 as bytes 0 and 1, other elements in their
/// type. An access after the last block of 64 bytes hits an unmapped page and ends the program.
class Buffer {
public:
  /// Filled with 0xFF, so that floats that nothing has written read as NaN.
  explicit Buffer(int64_t bytes);
  explicit Buffer(const reference::Tensor &tensor);

  void *data() const { return data_; }
  int64_t size() const { return size_; }
  reference::Tensor read(mlir::RankedTensorType type) const;

private:
  struct Unmap {
    size_t bytes;
    void operator()(std::byte *pages) const;
  };
  std::unique_ptr<std::byte, Unmap> pages_;
  std::byte *data_;
  int64_t size_;
};

/// Rounds a float tensor to its element type, as storing it would.
reference::Tensor rounded(const reference::Tensor &tensor);

} // namespace trainc::check
