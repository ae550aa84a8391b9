// MLIR's language server parses and verifies, and publishes what is reported meanwhile. It has no place for
// more checks, but a module's verifier ends with its users of symbols: here programs and models become such
// users.
#include "tools/trainc-lsp/model_check.h"

#include "dialects/Train/Train.h"
#include "lib/Instantiate/Instantiate.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace trainc;

namespace {

/// A file is checked as a whole, at its first program or model. What later phases make holds programs, too.
bool isFirstOfModelFile(Operation *op) {
  auto module = dyn_cast_or_null<ModuleOp>(op->getParentOp());
  if (!module || !module.getOps<train::EntryOp>().empty())
    return false;
  return op == &*llvm::find_if(*module.getBody(), llvm::IsaPred<nn::ModelOp, train::ProgramOp>);
}

/// The server lets ops of unknown dialects pass; nothing after it does.
LogicalResult refuseUnknownOps(ModuleOp module) {
  WalkResult all = module.walk([](Operation *op) {
    return op->isRegistered() ? WalkResult::advance() : WalkResult(op->emitOpError("is unknown"));
  });
  return failure(all.wasInterrupted());
}

/// Whether the other uses of symbols are right; the verifier, which is amid them, reports those that are not.
bool haveOthersTheirSymbols(ModuleOp module, SymbolTableCollection &symbols) {
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) {});
  WalkResult all = module.walk([&](SymbolUserOpInterface user) {
    return isa<nn::ModelOp, train::ProgramOp>(user) ? WalkResult::advance()
                                                    : WalkResult(user.verifySymbolUses(symbols));
  });
  return !all.wasInterrupted();
}

template <typename Op> struct ModelCheck : SymbolUserOpInterface::ExternalModel<ModelCheck<Op>, Op> {
  /// Always succeeds: after a failure the server would know no more definitions, nor what to show on hover.
  LogicalResult verifySymbolUses(Operation *op, SymbolTableCollection &symbols) const {
    if (!isFirstOfModelFile(op))
      return success();
    auto module = cast<ModuleOp>(op->getParentOp());
    if (failed(refuseUnknownOps(module)) || !haveOthersTheirSymbols(module, symbols))
      return success();
    OwningOpRef<ModuleOp> copy = module.clone();
    // A file without a program may be unfinished, or a part of something else.
    const bool hasProgram = !copy->getOps<train::ProgramOp>().empty();
    (void)(hasProgram ? instantiate(*copy) : checkModelText(*copy));
    return success();
  }
};

} // namespace

void trainc::registerModelCheck(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, nn::NNDialect *) {
    nn::ModelOp::attachInterface<ModelCheck<nn::ModelOp>>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, train::TrainDialect *) {
    train::ProgramOp::attachInterface<ModelCheck<train::ProgramOp>>(*context);
  });
}
