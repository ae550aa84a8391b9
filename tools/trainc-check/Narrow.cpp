// --precision: functions as training would compute them.
#include "EntryModule.h"
#include "Modes.h"

#include "lib/Precision/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::check;

/// The function, rebuilt from an entry that contains only it.
static func::FuncOp narrowedFunction(Block &entry, func::FuncOp original) {
  OpBuilder builder(original.getContext());
  auto function = func::FuncOp::create(builder, original.getLoc(), original.getName(),
                                       original.getFunctionType(), original->getAttrs());
  Block &body = *function.addEntryBlock();
  builder.setInsertionPointToEnd(&body);
  IRMapping values;
  // Passes remove unused arguments, so the names of states identify the remaining ones.
  SmallVector<Value> results(original.getNumResults());
  const auto indexOf = [&](StringRef state) {
    unsigned index = 0;
    state.rsplit('.').second.getAsInteger(10, index);
    return index;
  };
  for (Operation &op : entry) {
    if (auto get = dyn_cast<train::GetOp>(op))
      values.map(get.getResult(), body.getArgument(indexOf(get.getState())));
    else if (auto set = dyn_cast<train::SetOp>(op))
      results[indexOf(set.getState())] = values.lookup(set.getValue());
    else
      builder.clone(op, values);
  }
  func::ReturnOp::create(builder, original.getLoc(), results);
  return function;
}

FailureOr<OwningOpRef<ModuleOp>> check::narrowed(ModuleOp file, StringRef precision) {
  OwningOpRef<ModuleOp> result = ModuleOp::create(file.getLoc());
  for (auto function : file.getOps<func::FuncOp>()) {
    EntryModule entry(file.getContext(), ("precision " + precision).str(), EntryKind::micro_step);
    entry.add(function);
    PassManager passes(file.getContext());
    passes.addPass(createInsertCasts());
    passes.addPass(createCanonicalizerPass());
    passes.addPass(createCSEPass());
    if (failed(passes.run(entry.module())))
      return failure();
    result->push_back(narrowedFunction(entry.block(), function));
  }
  return result;
}
