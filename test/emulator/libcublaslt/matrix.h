// Matrices in device memory, as accessed by the device's thread.
#pragma once

#include "test/emulator/libcublaslt/descriptors.h"

#include <optional>
#include <string>

namespace trainc::emulator {

/// One matrix of a batch.
struct Matrix {
  cudaDataType type;
  std::byte *bytes;
  size_t rowStride, columnStride; ///< in elements

  std::byte *at(size_t row, size_t column) const {
    return bytes + (row * rowStride + column * columnStride) * bytesOf(type);
  }
  float operator()(size_t row, size_t column) const { return load(type, at(row, column)); }
  void set(size_t row, size_t column, float value) const { store(type, at(row, column), value); }
  Matrix transposed() const { return {type, bytes, columnStride, rowStride}; }
};

/// All matrices of a batch.
class Matrices {
public:
  /// Looks up the memory; `name` is for messages.
  Matrices(std::string name, uint64_t address, const Layout &layout);

  /// Why the matrices cannot be read or written; nothing if they can.
  std::optional<std::string> whyUnreadable() const;
  std::optional<std::string> whyUnwritable() const;
  /// Marks all elements as written.
  void noteWritten() const;

  Matrix batch(size_t index) const;

private:
  size_t lines() const { return isByColumns() ? layout_.columns : layout_.rows; }
  size_t lineBytes() const {
    return (isByColumns() ? layout_.rows : layout_.columns) * bytesOf(layout_.type);
  }
  uint64_t lineOffset(size_t batch, size_t line) const;
  bool isByColumns() const { return layout_.order == CUBLASLT_ORDER_COL; }

  std::string name_;
  uint64_t address_;
  Layout layout_;
  std::byte *bytes_; ///< null if not within one live allocation
};

/// Layout of a vector as a matrix of one column.
Layout vectorLayout(cudaDataType type, uint64_t elements, int32_t batches, int64_t batchStride);

} // namespace trainc::emulator
