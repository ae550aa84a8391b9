// Op interfaces that passes query, and the types in their signatures.
#pragma once

#include "dialects/Interfaces/Enums.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SmallVector.h"

#include <string>

namespace trainc {

/// Context in which an elementwise body is built: scalars, or vectors of lanes.
struct LaneContext {
  mlir::Location loc;
  /// Number of lanes; 0 for scalars.
  int64_t lanes;
  /// Returns a lane value (i64): the position along logical dimension `dim` of the op's result.
  llvm::function_ref<mlir::Value(unsigned dim)> index;
  /// Returns a lane value (i64): the row-major position in the op's result.
  llvm::function_ref<mlir::Value()> linearIndex;
  /// Returns a lane value (i64): random stream `number`, read from a kernel argument, so that one kernel
  /// serves all streams.
  llvm::function_ref<mlir::Value(int64_t number)> stream;

  /// Returns `element`, or a vector of `lanes` elements.
  mlir::Type type(mlir::Type element) const;
  /// Builds a constant on all lanes; `value` is rounded to the element type.
  mlir::Value constant(mlir::OpBuilder &builder, mlir::Type element, double value) const;
  mlir::Value constantInt(mlir::OpBuilder &builder, mlir::Type element, int64_t value) const;
};

/// Initial values of a parameter. `kind` is zeros, ones, constant, normal or uniform; `a` and `b` are its
/// numbers (constant: value; normal: standard deviation; uniform: low, high).
struct Initializer {
  llvm::StringRef kind;
  double a = 0, b = 0;
};

/// Context of a layer op that is being expanded: parameters, random streams and step scalars.
class LayerScope {
public:
  virtual ~LayerScope() = default;
  /// Declares parameter `<scope path>.<name>` and returns its value. Returns null and reports an error at the
  /// layer if the name is declared already.
  virtual mlir::Value declareParameter(llvm::StringRef name, mlir::RankedTensorType type,
                                       Initializer init) = 0;
  /// Returns a parameter declared elsewhere, by its full name from the model's root. Returns null and reports
  /// an error if it is unknown.
  virtual mlir::Value useParameter(llvm::StringRef fullName) = 0;
  /// Returns the number of a random stream: a hash of the scope path and `name`, independent of the position
  /// in the program. Fails with an error at the layer if the name is used already.
  virtual llvm::FailureOr<int64_t> randomStream(llvm::StringRef name) = 0;
  /// Number of tokens of a sample, and of positions of a text in generation; 0 if no column has an open
  /// length.
  virtual int64_t sequenceLength() const = 0;
  /// Whether the entry trains. If false, dropout passes its input through.
  virtual bool training() const = 0;
  /// Scalars (tensor<i64>) that key random numbers: the run's seed, the optimizer step, the micro-batch
  /// within the step.
  virtual mlir::Value seed() = 0;
  virtual mlir::Value step() = 0;
  virtual mlir::Value micro() = 0;
};

/// Rows of a cache that queries of a generation entry can attend to.
struct CachedRows {
  mlir::Value rows; ///< [sequences, positions, width]
  /// tensor<i32>: the last row that the first query sees. Each later query sees one row more. If an entry
  /// reads one token of each of several texts: [texts], the last row that the query of each text sees.
  mlir::Value limit;
};

/// Key-value caches that ops read and write in generation entries.
class CacheScope {
public:
  virtual ~CacheScope() = default;
  /// Returns the position of the call's first token in its sequence, tensor<i32>; or, if the call has one
  /// token of each of several texts, the position of each, [T].
  virtual mlir::Value position() = 0;
  /// Writes `rows` [1, T, width] to the next cache, from the current position on; if each token belongs to
  /// another text, row i at the position of text i. Returns what queries read. Caches are named in the order
  /// of calls. If each query sees at most `window` rows, up to its own, the cache holds no more. If the
  /// sequence comes token by token, rows of a window are then in no order.
  virtual CachedRows append(mlir::OpBuilder &builder, mlir::Value rows, std::optional<int64_t> window) = 0;
};

/// Valid values of an index: 0 <= index < `limit`, or `ignore`, which marks an element without an index.
struct IndexLimit {
  int64_t limit;
  std::optional<int64_t> ignore = std::nullopt;
};

/// Kind of generator or library that executes an op of the phase `scheduled`.
enum class KernelClass {
  Alias,         ///< none: the result shares bytes of the operand (reshape, dist.part)
  Pack,          ///< none: the operands share bytes of the result
  Collective,    ///< start of a collective; its result is valid after the Wait
  Wait,          ///< end of a collective; the result shares the operand's bytes
  Rows,          ///< loop over rows: elementwise, row and column reductions (nn.kernel)
  StridedCopy,   ///< moves elements: slice, pad, concat, transpose
  Scatter,       ///< adds rows at indices
  RowCopy,       ///< replaces rows at indices
  Attention,     ///< blocked attention forward
  AttentionGrad, ///< blocked attention backward
  Gemm,          ///< matrix product
  Loop,          ///< counted loop (nn.chunks)
  RankSum,       ///< sum of the values that ranks send; called by collectives only
};

/// Whether the code of the class is generated and called by entries.
inline bool isGenerated(KernelClass kernelClass) {
  using enum KernelClass;
  return kernelClass != Alias && kernelClass != Pack && kernelClass != Collective && kernelClass != Wait &&
         kernelClass != Loop && kernelClass != RankSum;
}

/// Offset of a tensor in a flat tensor: elements + place * elementsPerRank, with the rank's place along
/// `axes`, names of axes of the mesh.
struct FlatOffset {
  int64_t elements = 0, elementsPerRank = 0;
  mlir::ArrayAttr axes = {};
};

/// A box of a tensor's elements: resultOffset + sum of index[d] * resultStrides[d], for every index within
/// `shape`. The elements are copied from `operand`, with the source's offset and strides, or are zeros
/// without an operand. All numbers count elements.
struct StridedBox {
  std::optional<unsigned> operand;
  llvm::SmallVector<int64_t> shape, sourceStrides, resultStrides;
  int64_t sourceOffset = 0, resultOffset = 0;
};

/// C = op(A) op(B) (+ C), row-major, for each of `batch` matrices: op(A) is m x k, op(B) is k x n. Row
/// strides (ld*) and distances between matrices (stride*) count elements of the matrices as stored.
struct GemmShape {
  int64_t m, n, k, batch;
  bool transposeA, transposeB, accumulate;
  int64_t lda, ldb, ldc, strideA, strideB, strideC;

  /// Whether the products of all matrices are summed into one C.
  bool sumsBatch() const { return batch > 1 && strideC == 0; }
};

/// An fp8 tensor and its f32 scale; element * scale is the number that is represented.
struct ScaledValue {
  mlir::Value value, scale;
};

/// Operand numbers of the scales (f32 scalars) of A and B in an fp8 product.
struct GemmScales {
  unsigned a, b;
};

/// Operation that a matrix product can apply to its result or to a factor.
enum class EpilogueKind {
  Bias,       ///< adds a vector to each row
  Activation, ///< applies a function to each element
  Convert,    ///< converts to another floating-point type
  ColumnSums, ///< sums over the rows
};

/// One step of an epilogue. `operand` is the bias, or the input at which the gradient of an activation is
/// evaluated.
struct EpilogueStep {
  EpilogueKind kind;
  Activation activation = Activation::none;
  mlir::Value operand = {};
};

/// Whether the activation is a gradient: it multiplies the result by the derivative at the auxiliary input.
inline bool isGradient(Activation activation) {
  return activation == Activation::gelu_gradient || activation == Activation::gelu_tanh_gradient;
}

/// Epilogue of a product: bias, then activation. `auxiliary` is the input at which the gradient of an
/// activation is evaluated. With `keepsActivationInput` the input of the activation is a second result.
template <typename Operand> struct ProductSteps {
  std::optional<Operand> bias = std::nullopt, auxiliary = std::nullopt;
  Activation activation = Activation::none;
  bool keepsActivationInput = false;
  SideSum sideSum = SideSum::none;

  bool isEmpty() const { return !bias && activation == Activation::none && sideSum == SideSum::none; }
};

/// Epilogue of an op, by operand numbers. The op's results are the product, the kept input of the activation,
/// and the side sum.
using GemmEpilogue = ProductSteps<unsigned>;

/// Element type in which an op computes if the program computes in bf16 or f16; see PrecisionOpInterface.
enum class PrecisionClass {
  Low,  ///< bf16 or f16 with f32 sums: products, attention
  Keep, ///< the operands' type: ops that move elements, or lose no significant digits
  Full, ///< f32: all other ops
};

/// Labels of operand and result dimensions; see IndexingOpInterface.
struct IndexingRule {
  llvm::SmallVector<llvm::SmallVector<int>> operands, results;
};

/// How a value lies on the ranks along one axis of the mesh.
struct Along {
  enum Kind : uint8_t {
    Replicated, ///< equal on all ranks
    Own,        ///< a value of each rank's own
    Partial,    ///< a term of a sum
    Sharded     ///< an equal range of dimension `dim`, in the order of places
  };
  Kind kind = Replicated;
  int64_t dim = 0; ///< of Sharded

  static Along sharded(int64_t dim) { return {Sharded, dim}; }
  /// Returns the words for messages: "sharded along dimension 0".
  std::string text() const;
  bool operator==(const Along &) const = default;
};

/// Placement of a value along an axis, and what is wrong with the operands of its op, if anything.
struct DerivedPlacement {
  Along along;
  std::string fault = {};
};

/// For each operand and result, the dimension along which the sequence runs, or -1; see
/// IncrementalOpInterface.
struct SequenceDims {
  llvm::SmallVector<int> operands, results;
};

} // namespace trainc

#include "dialects/Interfaces/Interfaces.h.inc"

namespace trainc {

/// Whether `op` is executable and of this class; false for null.
bool hasClass(mlir::Operation *op, KernelClass kernelClass);
/// Whether the op moves no bytes, because its results share the bytes of its operands.
bool isView(mlir::Operation *op);
/// Whether kernels may read the op's operand in place of its result, and repeat or convert its elements
/// themselves; false for null.
bool isReadThrough(mlir::Operation *op);
/// Whether `op` is of class Pack; false for null.
bool isPack(mlir::Operation *op);
/// Whether `op` is of class Wait; false for null.
bool isWait(mlir::Operation *op);
/// Whether the op's result shares bytes of its operand at an offset that depends on the rank.
bool isShardOfRank(mlir::Operation *op);
/// Whether `op` starts an all-gather; false for null.
bool isGather(mlir::Operation *op);

} // namespace trainc
