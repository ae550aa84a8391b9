// The pieces that attention and its gradient are made of.
//
// A tile owns `width` positions (queries or keys), which are the lanes of all its vectors: matrices that
// belong to them are packed transposed in the block's memory, [depth, width]. The other side's rows stay
// where they are; their elements are broadcast. So nothing but a tile's own rows is ever transposed, and sums
// over the other side run in the order of its rows. All that a tile holds is f32 where tensors are of bf16 or
// f16, and so are blocks of the other side's rows, in a buffer of their own.
#pragma once

#include "lib/Codegen/Kernels/AttentionShape.h"

namespace trainc::codegen {

/// Positions of a tile of one side, where the widest rows have `widest` elements: fewer where there are few
/// positions or heads are wide.
int64_t attentionTileWidth(int64_t positions, int64_t widest);

/// The function of `kernels` that multiplies by a packed matrix [terms, width], made at its first use (out,
/// from, packed, factor: pointers; rows, terms, row stride, term stride, adds: i64): out[r, :] = (adds ?
/// out[r, :] * factor[:] : 0) + sum over t of from[r * row stride + t * term stride] packed[t, :].
mlir::func::FuncOp tileProduct(KernelModule &kernels, mlir::Type element, int64_t width);

class AttentionTiles {
public:
  /// Rows of the other side in one block.
  static constexpr int64_t kBlock = 32, kSquare = 8;

  /// `element`: of the tensors.
  AttentionTiles(KernelFunction &function, mlir::Type element, int64_t positions, int64_t widest);

  /// Positions of a tile.
  int64_t width() const { return tileWidth; }
  /// Lanes of one vector.
  int64_t lanes() const { return vectorLanes; }

  /// A matrix [rows, width] in the block's memory.
  mlir::Value buffer(int64_t rows);
  /// Bytes of such matrices of `width` positions.
  static int64_t bufferBytes(mlir::Type tensorElement, int64_t width, llvm::ArrayRef<int64_t> rows);
  /// Memory for a block of the other side's rows of `width` elements; null where it is read in its place.
  mlir::Value rowBuffer(mlir::Type tensorElement, int64_t width);
  static int64_t rowBufferBytes(mlir::Type tensorElement, int64_t width);
  /// The same rows, of which those from `first` on, `count` of them, are now in `buffer` if there is one.
  HeadRows held(const HeadRows &rows, mlir::Value first, int64_t count, mlir::Value buffer);

  Address at(mlir::Value buffer, mlir::Value row, mlir::Value lane);

  /// buffer[c, i] = scale * rows[i, c] for the `valid` rows; further lanes repeat the last row.
  void pack(mlir::Value buffer, const HeadRows &rows, mlir::Value valid, double scale);
  /// rows[i, c] = buffer[c, i] * factor(lane of i), for the `valid` rows. `factor` gives kSquare lanes, from
  /// lane i on.
  void unpack(mlir::Value buffer, const HeadRows &rows, mlir::Value valid,
              llvm::function_ref<mlir::Value(mlir::Value lane)> factor);

  /// out[r, :] = sum over c of rows[r, c] * packed[c, :], for `count` rows.
  void scores(mlir::Value out, const HeadRows &rows, int64_t count, mlir::Value packed);
  /// out[c, :] = out[c, :] * factor[:] + sum over r of rows[r, c] * weights[r, :].
  void accumulate(mlir::Value out, const HeadRows &rows, int64_t count, mlir::Value weights,
                  mlir::Value factor);

  /// body(lane) for every vector of the tile.
  void eachVector(llvm::function_ref<void(mlir::Value lane)> body);
  void fill(mlir::Value buffer, int64_t rows, double value);
  /// Loads `lanes()` numbers of an array of which only `valid` belong to the tile.
  mlir::Value loadValid(mlir::Value base, mlir::Type type, mlir::Value first, mlir::Value lane,
                        mlir::Value valid);

  /// scores[i, l] = -infinity for the rows row + i, i < count, that lane l (position first + l) does not see.
  /// `lanesAreQueries`: the lanes are queries, the rows are keys.
  void hide(mlir::Value scores, const Visibility &visibility, bool lanesAreQueries, mlir::Value first,
            mlir::Value valid, mlir::Value row, int64_t count);

  /// One past the last key that any of the queries [first, first + valid) sees.
  mlir::Value lastKey(const Visibility &visibility, int64_t keys, mlir::Value first, mlir::Value valid);

  /// body(first row, count) for blocks of kBlock rows of [begin, min(end, rows)) and for the shorter last
  /// one; begin is a multiple of kBlock.
  void blocks(mlir::Value begin, mlir::Value end, int64_t rows,
              llvm::function_ref<void(mlir::Value, int64_t)> body);

  Emitter &emit;
  mlir::Type element; ///< of all numbers in the block's memory

private:
  /// Which lanes from `lane` on see `row`; null where all do.
  mlir::Value visible(const Visibility &visibility, bool lanesAreQueries, mlir::Value first, mlir::Value lane,
                      mlir::Value valid, mlir::Value row);
  void squares(int64_t columns, llvm::function_ref<void(mlir::Value column, Mask mask)> body);

  KernelFunction &function;
  int64_t tileWidth, vectorLanes;
  mlir::func::FuncOp product;
};

} // namespace trainc::codegen
