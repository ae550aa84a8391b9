#include "EntryModule.h"

#include "tools/cases/cases.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::check;

OwningOpRef<ModuleOp> check::programModule(MLIRContext *context, StringRef words) {
  context->loadDialect<train::TrainDialect>();
  return parseSourceString<ModuleOp>(
      ("train.program @check { model @check optimizer sgd batch 1 " + words + " }").str(), context);
}

EntryModule::EntryModule(MLIRContext *context, StringRef words, EntryKind kind)
    : module_(programModule(context, words)) {
  OpBuilder builder = OpBuilder::atBlockEnd(module().getBody());
  entry_ = train::EntryOp::create(builder, module().getLoc(), kind);
  entry_.getBody().emplaceBlock();
}

std::string EntryModule::addState(func::FuncOp function, bool isResult, size_t index, Type type) {
  std::string name = cases::stateName(function.getSymName(),
                                      isResult ? cases::Part::kResult : cases::Part::kArgument, index);
  OpBuilder builder(entry_);
  train::StateOp::create(builder, function.getLoc(), name,
                         isResult ? train::StateRole::optimizer : train::StateRole::parameter,
                         cast<RankedTensorType>(type));
  return name;
}

void EntryModule::add(func::FuncOp function) {
  OpBuilder builder = OpBuilder::atBlockEnd(&block());
  IRMapping values;
  for (BlockArgument argument : function.getArguments()) {
    const std::string state =
        addState(function, /*isResult=*/false, argument.getArgNumber(), argument.getType());
    values.map(argument,
               train::GetOp::create(builder, function.getLoc(), argument.getType(), state).getResult());
  }
  Block &body = function.getBody().front();
  for (Operation &op : body.without_terminator())
    builder.clone(op, values);
  for (auto [index, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
    const std::string state = addState(function, /*isResult=*/true, index, value.getType());
    train::SetOp::create(builder, function.getLoc(), state, values.lookup(value));
  }
}
