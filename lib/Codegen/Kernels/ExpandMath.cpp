// Replaces math ops without a CPU instruction by polynomials.
#include "lib/Codegen/Kernels/MathLowering.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace trainc::codegen;

static Value expanded(OpBuilder &builder, Operation *op) {
  MathBuilder build(builder, op->getLoc(), op->getResult(0).getType());
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::ExpOp exp) { return build.exp(exp.getOperand()); })
      .Case([&](math::LogOp log) { return build.log(log.getOperand()); })
      .Case([&](math::Log1pOp log1p) { return build.log1p(log1p.getOperand()); })
      .Case([&](math::TanhOp tanh) { return build.tanh(tanh.getOperand()); })
      .Case([&](math::ErfOp erf) { return build.erf(erf.getOperand()); })
      .Case([&](math::SinOp sin) { return build.sin(sin.getOperand()); })
      .Case([&](math::CosOp cos) { return build.cos(cos.getOperand()); })
      .Case([&](math::RsqrtOp rsqrt) { return build.rsqrt(rsqrt.getOperand()); });
}

LogicalResult trainc::codegen::expandMath(Operation *root) {
  WalkResult result = root->walk([](Operation *op) {
    if (!isa<math::MathDialect>(op->getDialect()))
      return WalkResult::advance();
    if (isa<math::FmaOp, math::SqrtOp, math::AbsFOp, math::AbsIOp, math::CopySignOp>(op))
      return WalkResult::advance(); // computed by instructions
    bool function = isa<math::ExpOp, math::LogOp, math::Log1pOp, math::TanhOp, math::ErfOp, math::SinOp,
                        math::CosOp, math::RsqrtOp>(op);
    Type element = getElementTypeOrSelf(op->getResult(0));
    if (!function || !(element.isF32() || element.isF64())) {
      op->emitError("code generation: expected a function of f32 or f64 from the list in "
                    "lib/Codegen/Kernels/MathLowering.h");
      return WalkResult::interrupt();
    }
    OpBuilder builder(op);
    Value value = expanded(builder, op);
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
    return WalkResult::skip();
  });
  return failure(result.wasInterrupted());
}
