// What an op knows about itself: the interfaces that passes use, and the small types in their signatures.
#pragma once

#include "dialects/Interfaces/Enums.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SmallVector.h"

namespace trainc {

/// Where an elementwise body is being built: on scalars or on vectors of lanes.
struct LaneContext {
  mlir::Location loc;
  /// Number of lanes; 0 for scalars.
  int64_t lanes;
  /// Lane value (i64) of the position along logical dimension `dim` of the op's result.
  llvm::function_ref<mlir::Value(unsigned dim)> index;
  /// Lane value (i64) of the row-major position in the op's result.
  llvm::function_ref<mlir::Value()> linearIndex;
  /// Lane value (i64) of a number that names a stream of random numbers: a parameter, so that one code serves
  /// all streams.
  llvm::function_ref<mlir::Value(int64_t number)> stream;

  /// `element`, or a vector of lanes of it.
  mlir::Type type(mlir::Type element) const;
  /// A constant on all lanes; `value` is rounded to the element type.
  mlir::Value constant(mlir::OpBuilder &builder, mlir::Type element, double value) const;
  mlir::Value constantInt(mlir::OpBuilder &builder, mlir::Type element, int64_t value) const;
};

/// How a parameter starts: `kind` is zeros, ones, constant, normal, uniform; `a` and `b` its numbers
/// (constant: value; normal: standard deviation; uniform: low, high).
struct Initializer {
  llvm::StringRef kind;
  double a = 0, b = 0;
};

/// What a layer op declares while a model is instantiated.
class LayerScope {
public:
  virtual ~LayerScope() = default;
  /// Declares parameter `<scope path>.<name>` and returns its value. A second declaration of one name is an
  /// error, reported at the layer; null is returned then.
  virtual mlir::Value declareParameter(llvm::StringRef name, mlir::RankedTensorType type,
                                       Initializer init) = 0;
  /// The value of a parameter declared elsewhere, by full name from the model's root; null and an error if
  /// unknown.
  virtual mlir::Value useParameter(llvm::StringRef fullName) = 0;
  /// Identifies a site of randomness: a hash of the scope path and `name`, independent of position in the
  /// program. A second site of one name is an error, reported at the layer.
  virtual llvm::FailureOr<int64_t> randomStream(llvm::StringRef name) = 0;
  /// False while evaluating or generating: dropout passes its input through.
  virtual bool training() const = 0;
  /// Scalars (tensor<i64>) that key random numbers: the run's seed, the global step, the micro-batch within
  /// the step.
  virtual mlir::Value seed() = 0;
  virtual mlir::Value step() = 0;
  virtual mlir::Value micro() = 0;
};

/// The key-value cache while generation entries are built.
class CacheScope {
public:
  virtual ~CacheScope() = default;
  /// Position of the first token of this call in its sequence, tensor<i32>.
  virtual mlir::Value position() = 0;
  /// Number of positions the caches hold.
  virtual int64_t capacity() const = 0;
  /// Writes `rows` [1, T, width] at the current position of the next cache (named in order of calls) and
  /// returns the whole cache [1, capacity, width].
  virtual mlir::Value append(mlir::OpBuilder &builder, mlir::Value rows) = 0;
};

/// Values below `limit` are good indices, and `ignore` (if there is one) marks a place without an index.
struct IndexLimit {
  int64_t limit;
  std::optional<int64_t> ignore = std::nullopt;
};

/// What executes an op of the phase `scheduled`.
enum class KernelClass {
  Alias,         ///< nothing: the result is bytes of the operand (reshape, a part)
  Pack,          ///< nothing: the operands are bytes of the result
  Collective,    ///< begins to communicate; the result is there once a Wait has waited for it
  Wait,          ///< waits for a collective: the result is the operand's bytes
  Rows,          ///< loop over rows: elementwise, row and column reductions (nn.kernel)
  StridedCopy,   ///< moves elements: slice, pad, concat, transpose
  Scatter,       ///< adds rows at indices
  Attention,     ///< blocked attention forward
  AttentionGrad, ///< blocked attention backward
  Gemm,          ///< matrix product
  Loop,          ///< counted loop (nn.chunks)
  RankSum,       ///< adds what ranks send; collectives call it, and entries do not
};

/// Whether generated code executes those ops of entries that are of the class.
inline bool isGenerated(KernelClass kernelClass) {
  using enum KernelClass;
  return kernelClass != Alias && kernelClass != Pack && kernelClass != Collective && kernelClass != Wait &&
         kernelClass != Loop && kernelClass != RankSum;
}

/// Where in a flat tensor the elements of another begin.
struct FlatOffset {
  int64_t elements = 0, elementsPerRank = 0;
};

/// A part of a tensor, in elements: those at resultOffset + sum of index[d] * resultStrides[d], for every
/// index within `shape`. They are an operand's elements, found likewise, or zeros.
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

  /// Whether the products of all matrices add up in one C.
  bool sumsBatch() const { return batch > 1 && strideC == 0; }
};

/// A tensor of fp8, and the scalar of f32 by which its numbers are multiplied to be what they stand for.
struct ScaledValue {
  mlir::Value value, scale;
};

/// Of a product of fp8 numbers, the operands (f32 scalars) by which A and B are multiplied to be what they
/// stand for.
struct GemmScales {
  unsigned a, b;
};

/// What an op does that a matrix product can do on the way.
enum class EpilogueKind {
  Bias,       ///< adds a vector to each row
  Activation, ///< applies a function to each element
  Convert,    ///< gives the numbers in another floating-point type, as activations are computed in f32
  ColumnSums, ///< adds up the rows
};

/// One step of an epilogue; `operand` is the bias, or where the gradient of an activation is taken.
struct EpilogueStep {
  EpilogueKind kind;
  Activation activation = Activation::none;
  mlir::Value operand = {};
};

/// True for the gradients of activations: the result is multiplied by a slope.
inline bool isGradient(Activation activation) {
  return activation == Activation::gelu_gradient || activation == Activation::gelu_tanh_gradient;
}

/// What a product does beside multiplying: bias, then activation. `auxiliary` is where the gradient of an
/// activation is taken. With `keepsBefore` what an activation is applied to is a result as well.
template <typename Operand> struct ProductSteps {
  std::optional<Operand> bias = std::nullopt, auxiliary = std::nullopt;
  Activation activation = Activation::none;
  bool keepsBefore = false;
  SideSum sideSum = SideSum::none;

  bool isEmpty() const { return !bias && activation == Activation::none && sideSum == SideSum::none; }
};

/// Of an op, by the numbers of its operands. Its results are the product, what is kept, and side sums.
using GemmEpilogue = ProductSteps<unsigned>;

/// In which type an op computes in a program of bf16 or f16; see PrecisionOpInterface.
enum class PrecisionClass {
  Low,  ///< in the low type, with sums in f32: products, attention
  Keep, ///< in that of what it gets: what moves elements, or costs no digit that counts
  Full, ///< in f32
};

/// Labels of operand and result dimensions; see IndexingOpInterface.
struct IndexingRule {
  llvm::SmallVector<llvm::SmallVector<int>> operands, results;
};

/// Of each operand and result the dimension along which an op goes from position to position, or -1; see
/// IncrementalOpInterface.
struct SequenceDims {
  llvm::SmallVector<int> operands, results;
};

} // namespace trainc

#include "dialects/Interfaces/Interfaces.h.inc"

namespace trainc {

/// Whether the op (or none) is executable, and of this class.
bool hasClass(mlir::Operation *op, KernelClass kernelClass);
/// Whether the op moves no byte, but says that results and operands share theirs.
bool isView(mlir::Operation *op);
/// Whether the op (or none) is of class Pack.
bool isPack(mlir::Operation *op);
/// Whether the op (or none) is of class Wait: the value of the collective that its operand is of.
bool isWait(mlir::Operation *op);
/// Whether the op's result is bytes of its operand that lie elsewhere on each rank.
bool isPartOfRank(mlir::Operation *op);
/// Whether the op (or none) begins to gather.
bool isGather(mlir::Operation *op);

} // namespace trainc
