// Attention by heads: layout of rows, masks, biases by distance, dropout of weights.
#pragma once

#include "lib/Codegen/AttentionSizes.h"
#include "lib/Codegen/Kernels/KernelFunction.h"

#include <array>

namespace trainc::codegen {

/// Rows of one head in a tensor [batch, positions, heads * width].
struct HeadRows {
  mlir::Value base;   ///< pointer
  mlir::Type element; ///< type in memory
  mlir::Value offset; ///< i64, elements before the first row
  int64_t stride;     ///< elements between rows
  int64_t width;      ///< elements of a row

  /// Returns the rows from `first` on.
  HeadRows from(Emitter &emit, mlir::Value first) const;
};

/// Sizes of an attention or its gradient, and the layout of its heads' rows.
struct AttentionShape : AttentionSizes {
  using AttentionSizes::AttentionSizes;

  /// Returns the offset of a head's queries in arrays of one number per query: [batch, heads, queries].
  mlir::Value statistics(Emitter &emit, mlir::Value batch, mlir::Value head) const;
  /// Return the rows of q (or dq), k, v and out for one sequence of the batch and one head.
  HeadRows queryRows(Emitter &emit, mlir::Value base, mlir::Value batch, mlir::Value head) const;
  HeadRows keyRows(Emitter &emit, mlir::Value base, mlir::Value batch, mlir::Value keyHead) const;
  HeadRows valueRows(Emitter &emit, mlir::Value base, mlir::Value batch, mlir::Value keyHead) const;
  HeadRows outRows(Emitter &emit, mlir::Value base, mlir::Value batch, mlir::Value head) const;
};

/// Returns alibi * slope of `head` (i64), of type `element`.
mlir::Value alibiSlope(Emitter &emit, const AttentionShape &shape, mlir::Value head, mlir::Type element);

/// Positions [begin, end), i64.
struct PositionRange {
  mlir::Value begin, end;
};

/// Returns cap * tanh(score / cap), of scalars or vectors.
mlir::Value capScore(Emitter &emit, mlir::Value score, double cap);
/// Returns the derivative of capScore from its result; 0 if the result is -infinity, as for a hidden score.
mlir::Value capSlope(Emitter &emit, mlir::Value capped, double cap);

/// Mask of query-key pairs.
struct Visibility {
  Visibility() = default;
  /// Loads a limit of all sequences at the insertion point. The code of a tile calls enter().
  Visibility(nn::AttentionOp op, KernelFunction &function);
  Visibility(nn::AttentionGradOp op, KernelFunction &function);

  /// Selects the segments and the limit of batch element `batch`, i64, at the insertion point.
  void enter(Emitter &emit, mlir::Value batch);

  /// Returns the keys that any of `queries` may attend to.
  PositionRange keysOf(Emitter &emit, const PositionRange &queries) const;
  /// Returns the queries that may attend to any of `keys`; the limit is ignored.
  PositionRange queriesOf(Emitter &emit, const PositionRange &keys) const;
  /// Returns u (i64): query i attends to keys up to i + u. Requires `last` or `limit`.
  mlir::Value upperBound(Emitter &emit) const;
  /// Returns p (i64): query i has the position i + p among the keys.
  mlir::Value firstQuery(Emitter &emit) const;
  /// Returns l (i64): query i attends to keys from i + l on. Requires `span`.
  mlir::Value lowerBound(Emitter &emit) const;

  int64_t queryCount = 0, keyCount = 0;
  std::optional<int64_t> last; ///< query i attends to keys up to i + last
  mlir::Value limit;           ///< i64 or null: query i attends to keys up to i + limit
  mlir::Value limits;          ///< pointer to a limit for each batch element, or null
  std::optional<int64_t> span; ///< upperBound - lowerBound, with a window
  mlir::Value segments;        ///< pointer or null
  mlir::Type segmentType;
  mlir::Value segmentBase; ///< i64, elements before the segments of this batch element
};

/// Biases that are added to the scores of one head, one for each distance of query and key.
class DistanceBias {
public:
  template <typename Op>
  DistanceBias(Op op, KernelFunction &function, const Visibility &visibility, mlir::Value head)
      : DistanceBias(AttentionShape(op), op.getBiasMutable()[0], function, visibility, head) {}

  /// Returns the address of the bias for a query at `query` and a key at `key`, positions in their tensors
  /// (i64). For positions outside the tensors, returns the address of some bias.
  Address at(Emitter &emit, mlir::Value query, mlir::Value key) const;

private:
  DistanceBias(const AttentionShape &shape, mlir::OpOperand &bias, KernelFunction &function,
               const Visibility &visibility, mlir::Value head);

  mlir::Value biases; ///< pointer to the biases of all heads
  mlir::Type element;
  int64_t count;      ///< number of biases of all heads
  mlir::Value origin; ///< i64, index of the bias of query 0 and key 0
};

/// Dropout of softmax weights.
class WeightDropout {
public:
  /// Loads the key at the insertion point.
  template <typename Op>
  WeightDropout(Op op, KernelFunction &function)
      : WeightDropout(op.getDropout()->convertToDouble(), op.getDropoutKeyMutable()[0], function) {}

  /// Returns the number (i64) of a pair of batch element and head among all such pairs of the optimizer step.
  mlir::Value number(Emitter &emit, const AttentionShape &shape, mlir::Value batch, mlir::Value head) const;
  /// Number of consecutive keys that share a draw. The first of them is a multiple of this number.
  static constexpr int64_t kShared = 4;
  /// Returns the random words (i64) of `query` and the kShared keys from kShared * `group` on, for the result
  /// `number` of number(). The three arguments are i64 scalars, or vectors of `lanes`.
  std::array<mlir::Value, kShared> draw(Emitter &emit, mlir::Value number, mlir::Value query,
                                        mlir::Value group, int64_t lanes) const;
  /// Returns the factor, of type `element`, of the weight with the random word `word`: 0, or 1 / (1 - p).
  mlir::Value factor(Emitter &emit, mlir::Value word, int64_t lanes, mlir::Type element) const;
  /// Returns the factors of the weights of `query` and `key`, as by draw() and factor().
  mlir::Value factors(Emitter &emit, mlir::Value number, mlir::Value query, mlir::Value key, int64_t lanes,
                      mlir::Type element) const;

private:
  WeightDropout(double probability, mlir::OpOperand &key, KernelFunction &function);

  double probability;
  llvm::SmallVector<mlir::Value, 4> keyWords; ///< i64
  mlir::Value threshold;                      ///< i64: weights whose random number is below are dropped
};

/// Sums of dS by distance, for the gradient of the biases. Each block of queries has a row of sums. The rows
/// are in scratch 1 of nn.attention_grad. Its last launch adds up the rows to the gradient of the biases.
struct DistanceSums {
  /// `block` is the number of queries in a block.
  DistanceSums(const AttentionShape &shape, int64_t block)
      : shape(shape), block(block), stride(llvm::alignTo(shape.keys + block - 1, block)),
        perHead(llvm::divideCeil(shape.queries, block)) {}

  int64_t count() const { return shape.batch * shape.heads * perHead * stride; }
  /// Returns the offset of the row of a head's block that begins at query `first`. In the row, the sum of
  /// query first + i and key j has the index keyOffset() + i - j.
  mlir::Value row(Emitter &emit, mlir::Value batch, mlir::Value head, mlir::Value first) const;
  int64_t keyOffset() const { return shape.keys - 1; }
  /// Stores element `index` (i64) of the gradient of the biases.
  void storeTotal(nn::AttentionGradOp op, KernelFunction &function, mlir::Value index) const;

  const AttentionShape &shape;
  int64_t block, stride, perHead;
};

/// Adds scratch 1 and the launch of storeTotal() to the summary. The summary must already have the launch
/// that computes dq, which gets scratch 1 as an argument.
void summariseBiasGradient(nn::AttentionGradOp op, KernelSummary &kernels, int64_t block, int64_t threads,
                           int64_t numbersPerTile);

// The gradient of attention needs D = rowsum(dO O) - dlse of every query. Its first launch writes D into
// scratch 0.

/// Bytes of D.
int64_t rowSumBytes(nn::AttentionGradOp op);
/// Arguments of the launch that writes D.
llvm::SmallVector<KernelParam> rowSumParams(nn::AttentionGradOp op, const KernelSummary &kernels);
/// Arguments of a launch that computes the gradients `results`.
llvm::SmallVector<KernelParam> gradientParams(nn::AttentionGradOp op, const KernelSummary &kernels,
                                              llvm::ArrayRef<unsigned> results);
/// Stores D of a row of `out`, given rowsum(dO O) of the row.
void storeRowSum(nn::AttentionGradOp op, KernelFunction &function, mlir::Value row, mlir::Value sum);

/// Returns the summary of attention by one launch, with its flops. The launch takes all operands and results.
KernelSummary attentionSummary(nn::AttentionOp op, LaunchSummary launch);

} // namespace trainc::codegen
