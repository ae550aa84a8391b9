// Building blocks of attention and its gradient.
//
// A tile owns `width` positions (queries or keys), which are the lanes of its vectors. Matrices of these
// positions are packed transposed in the block's memory, [depth, width]. Rows of the other side are not
// moved; their elements are broadcast. So only a tile's own rows are transposed, and sums over the other side
// are in the order of its rows. If tensors are bf16 or f16, everything in a tile is f32, including blocks of
// the other side's rows in a separate buffer.
#pragma once

#include "lib/Codegen/AttentionSizes.h"
#include "lib/Codegen/Kernels/AttentionShape.h"

#include <optional>

namespace trainc::codegen {

/// Returns the number of positions per tile of one side, whose widest rows have `widest` elements. It is
/// reduced for few positions and for wide heads.
int64_t attentionTileWidth(int64_t positions, int64_t widest);

/// Returns the function of `kernels` that multiplies by a packed matrix [terms, width]; it is created at its
/// first use. Arguments: out, from, packed, factor (pointers); rows, terms, row stride, term stride, adds
/// (i64). It computes out[r, :] = (adds ? out[r, :] * factor[:] : 0) + sum over t of from[r * row stride + t
/// * term stride] packed[t, :].
mlir::func::FuncOp tileProduct(KernelModule &kernels, mlir::Type element, int64_t width);

/// Emits the code of tiles in one kernel.
class AttentionTiles {
public:
  /// kBlock: number of rows of the other side in one block. kSquare: rows and columns that are transposed in
  /// registers together.
  static constexpr int64_t kBlock = 32, kSquare = 8;

  /// `element` is the element type of the tensors. `positions` and `widest` are those of
  /// attentionTileWidth().
  AttentionTiles(KernelFunction &function, mlir::Type element, int64_t positions, int64_t widest);

  /// Number of positions per tile.
  int64_t width() const { return tileWidth; }
  /// Number of lanes of a vector.
  int64_t lanes() const { return vectorLanes; }

  /// Allocates a matrix [rows, width] in the block's memory.
  mlir::Value buffer(int64_t rows);
  /// Returns the bytes of such matrices with `width` positions.
  static int64_t bufferBytes(mlir::Type tensorElement, int64_t width, llvm::ArrayRef<int64_t> rows);
  /// Allocates memory for a block of the other side's rows of `width` elements. Returns null if the rows can
  /// be read in place.
  mlir::Value rowBuffer(mlir::Type tensorElement, int64_t width);
  static int64_t rowBufferBytes(mlir::Type tensorElement, int64_t width);
  /// Copies `count` rows from row `first` on to `buffer`. Returns `rows` such that row `first` and the next
  /// rows are those of the copy. If `buffer` is null, copies nothing and returns `rows`.
  HeadRows held(const HeadRows &rows, mlir::Value first, int64_t count, mlir::Value buffer);

  Address at(mlir::Value buffer, mlir::Value row, mlir::Value lane);

  /// buffer[c, i] = scale * rows[i, c] for the `valid` rows; further lanes repeat the last row.
  void pack(mlir::Value buffer, const HeadRows &rows, mlir::Value valid, double scale);
  /// rows[i, c] = buffer[c, i] * factor(lane of i) for the `valid` rows. `factor` returns kSquare lanes from
  /// lane i on.
  void unpack(mlir::Value buffer, const HeadRows &rows, mlir::Value valid,
              llvm::function_ref<mlir::Value(mlir::Value lane)> factor);

  /// out[r, :] = sum over c of rows[r, c] * packed[c, :], for `count` rows.
  void scores(mlir::Value out, const HeadRows &rows, int64_t count, mlir::Value packed);
  /// scores[r, :] += slope * distance, for `count` rows of the other side from `row` on. The distance is the
  /// key's position minus the query's. The tile begins at position `first`.
  void bias(mlir::Value scores, mlir::Value slope, const Visibility &visibility, bool lanesAreQueries,
            mlir::Value first, mlir::Value row, int64_t count);
  /// scores[r, :] = cap * tanh(scores[r, :] / cap), for `count` rows.
  void cap(mlir::Value scores, int64_t count, double cap);
  /// out[c, :] = out[c, :] * factor[:] + sum over r of rows[r, c] * weights[r, :].
  void accumulate(mlir::Value out, const HeadRows &rows, int64_t count, mlir::Value weights,
                  mlir::Value factor);

  /// Calls body(lane) for every vector of the tile.
  void eachVector(llvm::function_ref<void(mlir::Value lane)> body);
  void fill(mlir::Value buffer, int64_t rows, double value);
  /// Loads `lanes()` elements of an array, of which only `valid` belong to the tile.
  mlir::Value loadValid(mlir::Value base, mlir::Type type, mlir::Value first, mlir::Value lane,
                        mlir::Value valid);

  /// Sets scores[i, l] = -infinity for the rows row + i, i < count, that are masked for lane l (position
  /// first + l). With `lanesAreQueries` lanes are queries and rows are keys.
  void hide(mlir::Value scores, const Visibility &visibility, bool lanesAreQueries, mlir::Value first,
            mlir::Value valid, mlir::Value row, int64_t count);

  /// Calls body(first row, count) for each block that has rows of `range`. The `rows` rows are divided into
  /// blocks of kBlock rows; the last block may be shorter.
  void blocks(const PositionRange &range, int64_t rows, llvm::function_ref<void(mlir::Value, int64_t)> body);

  Emitter &emit;
  mlir::Type element; ///< of all numbers in the block's memory

private:
  /// Returns the mask of the lanes from `lane` on that `row` is visible to; null if it is visible to all.
  mlir::Value visible(const Visibility &visibility, bool lanesAreQueries, mlir::Value first, mlir::Value lane,
                      mlir::Value valid, mlir::Value row);
  void squares(int64_t columns, llvm::function_ref<void(mlir::Value column, Mask mask)> body);

  KernelFunction &function;
  int64_t tileWidth, vectorLanes;
  mlir::func::FuncOp product;
};

/// Instructions on lanes of f32. A round of Philox has ten instructions on lanes of 64 bits, of which a
/// vector has half as many.
constexpr ScoreInstructions kScoreInstructions{
    .softmax = 20, .softcap = 20, .alibi = 3, .bias = 3, .draw = 200, .dropout = 6};

/// Number of elements of memory that addBias() needs for tiles of `width` positions.
constexpr int64_t heldBiases(int64_t width) { return width + AttentionTiles::kBlock; }
/// Returns the bytes of this memory; 0 without biases.
int64_t heldBiasBytes(const AttentionSizes &sizes, int64_t width);
/// scores[r, :] += bias of the distance, for `count` rows of the other side from `row` on. `held` is memory
/// of heldBiasBytes() bytes. The tile begins at position `first`.
void addBias(AttentionTiles &tiles, mlir::Value scores, const DistanceBias &bias, mlir::Value held,
             bool lanesAreQueries, mlir::Value first, mlir::Value row, int64_t count);
/// Adds dS of `count` keys from `key` on and of the tile's `valid` queries to the sums by distance at `sums`,
/// which have the layout `of`. The tile's row of sums is at `offset`.
void addToSums(AttentionTiles &tiles, const DistanceSums &of, mlir::Value sums, mlir::Value offset,
               mlir::Value dS, mlir::Value valid, mlir::Value key, int64_t count);

/// Calls body(i, factors) for the `count` rows of the other side from `row` on. `factors` are the dropout
/// factors for row + i and the lanes from `lane` on of a tile that begins at position `first`; null without
/// dropout. `number` is the result of WeightDropout::number(). If lanes are queries, `row` must be the first
/// row of a block.
void eachRow(AttentionTiles &tiles, const std::optional<WeightDropout> &dropout, bool lanesAreQueries,
             mlir::Value number, mlir::Value first, mlir::Value lane, mlir::Value row, int64_t count,
             llvm::function_ref<void(mlir::Value i, mlir::Value factors)> body);

} // namespace trainc::codegen
