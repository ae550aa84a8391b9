// The nn dialect: tensor math of models on logical shapes.
#pragma once

#include "dialects/Interfaces/Interfaces.h"
#include "dialects/NN/RepeatPattern.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/NN/NNDialect.h.inc"
#include "dialects/NN/NNEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/NN/NNTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/NN/NNAttributes.h.inc"

namespace trainc::nn {

/// A trait of ops that only the compiler makes.
template <typename Op> class Generated : public mlir::OpTrait::TraitBase<Op, Generated> {};

/// Marks its lifetime as parsing of a block's or model's body, in which every value is deferred. The mark is
/// per thread.
class ModelTextScope {
public:
  ModelTextScope() { ++depth; }
  ~ModelTextScope() { --depth; }
  ModelTextScope(const ModelTextScope &) = delete;
  ModelTextScope &operator=(const ModelTextScope &) = delete;

  static bool isOpen() { return depth > 0; }

private:
  static thread_local int depth;
};

/// Number of elements that share a chunk number in nn.stochastic_round.
constexpr int64_t kDrawnChunk = 256;

/// Reports a type error at the op being inferred; converts to failure().
using InferError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// Fails with an error unless each size is between 1 and 2^31 - 1, and their product at most 2^44.
llvm::LogicalResult checkSizes(llvm::ArrayRef<int64_t> shape, InferError error);

/// Returns the adaptor with defaults for absent attributes. The parser fills in defaults only after type
/// inference.
template <typename Op>
typename Op::Adaptor withDefaults(mlir::MLIRContext *context, typename Op::Adaptor adaptor) {
  typename Op::Adaptor::Properties properties = adaptor.getProperties();
  Op::populateDefaultProperties(mlir::OperationName(Op::getOperationName(), context), properties);
  return {adaptor.getOperands(), adaptor.getAttributes(), properties};
}

/// Implements inferReturnTypes of tensor ops. If an operand is deferred, the results are deferred; otherwise
/// calls `Op::inferTypes`.
template <typename Op>
llvm::LogicalResult inferOrDefer(mlir::MLIRContext *context, std::optional<mlir::Location> location,
                                 typename Op::Adaptor adaptor, llvm::SmallVectorImpl<mlir::Type> &types) {
  const typename Op::Adaptor complete = withDefaults<Op>(context, adaptor);
  auto isDeferred = [](mlir::Value value) { return llvm::isa<DeferredType>(value.getType()); };
  if (ModelTextScope::isOpen() || llvm::any_of(adaptor.getOperands(), isDeferred)) {
    types.assign(Op::resultCount(complete), DeferredType::get(context));
    return mlir::success();
  }
  mlir::Location where = location.value_or(mlir::UnknownLoc::get(context));
  auto error = [&] { return mlir::emitError(where) << Op::getOperationName() << ": "; };
  auto inferred = Op::inferTypes(complete, error);
  if (failed(inferred) || !llvm::all_of(*inferred, [&](mlir::Type type) {
        return succeeded(checkSizes(llvm::cast<mlir::RankedTensorType>(type).getShape(), error));
      }))
    return mlir::failure();
  types.assign(inferred->begin(), inferred->end());
  return mlir::success();
}

/// Infers the result type of an elementwise op with one floating-point operand.
llvm::FailureOr<llvm::SmallVector<mlir::Type>> inferUnary(mlir::Value x, InferError error);
/// Infers the result type of arithmetic on two operands of one type, which is not i1.
llvm::FailureOr<llvm::SmallVector<mlir::Type>> inferArithmetic(mlir::Value lhs, mlir::Value rhs,
                                                               InferError error);
/// Infers the result type of an elementwise op with two operands of one type.
llvm::FailureOr<llvm::SmallVector<mlir::Type>> inferBinary(mlir::Value lhs, mlir::Value rhs,
                                                           InferError error);
/// Infers the result type of an elementwise op on i1, with one or two operands.
llvm::FailureOr<llvm::SmallVector<mlir::Type>> inferLogical(mlir::ValueRange operands, InferError error);
/// Verifies the number in place of an operand, as in `nn.mul %x, 0.5`. It is allowed while types are
/// deferred.
llvm::LogicalResult verifyNumber(mlir::Operation *op);
/// Replaces the number in place of an operand, if `op` has one, by a scalar constant with the element type of
/// the other operand. Reports an error at `op` if that type cannot represent the number.
llvm::LogicalResult materializeNumber(mlir::OpBuilder &builder, mlir::Operation *op);
/// Returns the indexing rule of an elementwise op: dimension i of every operand is dimension i of the result.
IndexingRule elementwiseIndexing(mlir::Operation *op);

} // namespace trainc::nn

#define GET_OP_CLASSES
#include "dialects/NN/NNOps.h.inc"
