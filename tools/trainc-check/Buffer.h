// The bytes that compiled kernels work on.
#pragma once

#include "lib/Reference/Tensor.h"

#include <cstdlib>
#include <memory>

namespace trainc::check {

/// A tensor's bytes as kernels see them, aligned to 64: i1 as bytes 0 and 1, other elements as they are
/// typed.
class Buffer {
public:
  /// Filled with 0xFF: NaN to whoever reads what nobody wrote.
  explicit Buffer(int64_t bytes);
  explicit Buffer(const reference::Tensor &tensor);

  void *data() const { return storage_.get(); }
  int64_t size() const { return size_; }
  reference::Tensor read(mlir::RankedTensorType type) const;

private:
  struct Free {
    void operator()(void *pointer) const { std::free(pointer); }
  };
  std::unique_ptr<void, Free> storage_;
  int64_t size_;
};

/// Rounds a float tensor to its element type, as storing it would.
reference::Tensor rounded(const reference::Tensor &tensor);

} // namespace trainc::check
