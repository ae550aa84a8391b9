// Compiled kernels in this process, and the bytes they work on.
#pragma once

#include "lib/Codegen/Codegen.h"
#include "lib/Reference/Tensor.h"

#include <memory>

namespace trainc::check {

/// A shared object of kernels, loaded.
class MachineCode {
public:
  /// Null where the object cannot be loaded (with a message) or the CPU lacks the level.
  static std::unique_ptr<MachineCode> load(const codegen::Object &object);
  ~MachineCode();

  using Kernel = void (*)(void *const *arguments, int64_t begin, int64_t end);
  /// The kernel of that symbol, which exists.
  Kernel find(const std::string &symbol) const;

private:
  MachineCode(void *handle, int file) : handle_(handle), file_(file) {}
  void *handle_;
  int file_;
};

/// A tensor's bytes as kernels see them, aligned to 64: i1 as bytes 0 and 1, other elements as they are
/// typed.
class Buffer {
public:
  /// Filled with 0xFF: NaN to whoever reads what nobody wrote.
  explicit Buffer(int64_t bytes);
  explicit Buffer(const reference::Tensor &tensor);
  void *data() { return storage_.get(); }
  reference::Tensor read(mlir::RankedTensorType type) const;

private:
  struct Free {
    void operator()(void *pointer) const { std::free(pointer); }
  };
  std::unique_ptr<void, Free> storage_;
};

/// Rounds a float tensor to its element type, as storing it would.
reference::Tensor rounded(const reference::Tensor &tensor);

} // namespace trainc::check
