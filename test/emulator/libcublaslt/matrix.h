// Matrices in device memory, as the device's thread sees them.
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

/// All of a batch.
class Matrices {
public:
  /// Finds the memory; `name` is for messages.
  Matrices(std::string name, uint64_t address, const Layout &layout);

  /// Why it cannot be read, or written.
  std::optional<std::string> whyUnreadable() const;
  std::optional<std::string> whyUnwritable() const;
  /// Notes that all elements were written.
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
  std::byte *bytes_; ///< null: not in one live allocation
};

/// A vector, as a matrix of one column.
Layout vectorLayout(cudaDataType type, uint64_t elements, int32_t batches, int64_t batchStride);

} // namespace trainc::emulator
