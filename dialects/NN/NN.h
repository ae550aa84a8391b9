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

/// While one lives, its thread parses the body of a block or a model, where every value is deferred.
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

/// Elements of a chunk, by whose numbers nn.stochastic_round counts.
constexpr int64_t kDrawnChunk = 256;

/// Reports a type error at the op being inferred; converts to failure().
using InferError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// Sizes that a plan can hold: each between 1 and 2^31 - 1, and no more than 2^44 elements; else an error.
llvm::LogicalResult checkSizes(llvm::ArrayRef<int64_t> shape, InferError error);

/// The adaptor with absent attributes at their defaults, which the parser fills in only after inferring
/// types.
template <typename Op>
typename Op::Adaptor withDefaults(mlir::MLIRContext *context, typename Op::Adaptor adaptor) {
  typename Op::Adaptor::Properties properties = adaptor.getProperties();
  Op::populateDefaultProperties(mlir::OperationName(Op::getOperationName(), context), properties);
  return {adaptor.getOperands(), adaptor.getAttributes(), properties};
}

/// Shared body of every tensor op's inferReturnTypes: deferred operands make deferred results, else
/// `Op::inferTypes` decides.
template <typename Op>
llvm::LogicalResult inferOrDefer(mlir::MLIRContext *context, std::optional<mlir::Location> location,
                                 typename Op::Adaptor adaptor, llvm::SmallVectorImpl<mlir::Type> &types) {
  auto isDeferred = [](mlir::Value value) { return llvm::isa<DeferredType>(value.getType()); };
  if (ModelTextScope::isOpen() || llvm::any_of(adaptor.getOperands(), isDeferred)) {
    types.assign(Op::resultCount(adaptor), DeferredType::get(context));
    return mlir::success();
  }
  mlir::Location where = location.value_or(mlir::UnknownLoc::get(context));
  auto error = [&] { return mlir::emitError(where) << Op::getOperationName() << ": "; };
  auto inferred = Op::inferTypes(withDefaults<Op>(context, adaptor), error);
  if (failed(inferred) || !llvm::all_of(*inferred, [&](mlir::Type type) {
        return succeeded(checkSizes(llvm::cast<mlir::RankedTensorType>(type).getShape(), error));
      }))
    return mlir::failure();
  types.assign(inferred->begin(), inferred->end());
  return mlir::success();
}

/// Result type of an elementwise op of one floating-point operand.
llvm::FailureOr<llvm::SmallVector<mlir::Type>> inferUnary(mlir::Value x, InferError error);
/// Result type of arithmetic on two operands of one type, which is not i1.
llvm::FailureOr<llvm::SmallVector<mlir::Type>> inferArithmetic(mlir::Value lhs, mlir::Value rhs,
                                                               InferError error);
/// Result type of an elementwise op of two operands of one type.
llvm::FailureOr<llvm::SmallVector<mlir::Type>> inferBinary(mlir::Value lhs, mlir::Value rhs,
                                                           InferError error);
/// The indexing rule of an elementwise op: dimension i of every operand is dimension i of the result.
IndexingRule elementwiseIndexing(mlir::Operation *op);

} // namespace trainc::nn

#define GET_OP_CLASSES
#include "dialects/NN/NNOps.h.inc"
