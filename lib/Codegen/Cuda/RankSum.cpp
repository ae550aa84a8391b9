// Kernel that sums the values sent by ranks, for any number of elements.
#include "lib/Codegen/Cuda/Generators.h"
#include "lib/Codegen/Kernels/ConstantOperands.h"
#include "lib/Codegen/Kernels/KernelFunction.h"
#include "lib/Support/StoredElement.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

/// Enough blocks to fill a GPU; the number of elements is not known before the call.
static constexpr int64_t kBlocks = 512, kRankSumThreads = 256;

/// The end of the sums is passed as a buffer of no bytes, whose address is only compared.
KernelSummary trainc::codegen::cuda::summariseRankSum(dist::RankSumOp op) {
  KernelSummary kernels;
  kernels.scratchBytes = {0};
  LaunchSummary launch{.name = "rank_sum", .grid = kBlocks, .params = {}, .threads = kRankSumThreads};
  for (unsigned place = 0; place < op.getValues().size(); ++place)
    launch.params.push_back(operandParam(op, place));
  launch.params.push_back(resultParam(op, 0));
  launch.params.push_back(scratchParam(kernels, 0, plan::Access::read, getElementTypeOrSelf(op.getSum())));
  kernels.launches.push_back(std::move(launch));
  return kernels;
}

/// Sums over the tree of runtime/comm/tree_sum.h.
static Value treeSum(Emitter &emit, ArrayRef<Value> values) {
  if (values.size() == 1)
    return values.front();
  const size_t half = llvm::bit_floor(values.size() - 1);
  Value left = treeSum(emit, values.take_front(half));
  return emit.add(left, treeSum(emit, values.drop_front(half)));
}

/// Values may begin at any element, so that a thread adds one element at a time. All values of an element are
/// read before the sum is written, which may overwrite one of them.
Symbols trainc::codegen::cuda::generateRankSum(dist::RankSumOp op, KernelModule &kernels) {
  const KernelSummary summary = summariseRankSum(op);
  KernelFunction function(kernels, summary.launches.front());
  Emitter &emit = function.emit();
  Type element = getElementTypeOrSelf(op.getValues().front()), into = getElementTypeOrSelf(op.getSum());
  auto number = [&](Value pointer) -> Value {
    return LLVM::PtrToIntOp::create(emit.builder, emit.loc, emit.builder.getI64Type(), pointer);
  };
  Value out = function.result(0);
  function.tiles([&](Value tile) {
    Value elements = emit.divide(emit.sub(number(function.scratch(0)), number(out)), elementBytes(into));
    Value first = emit.add(emit.mul(tile, kRankSumThreads), function.thread());
    emit.loop(first, elements, kBlocks * kRankSumThreads, [&](Value i) {
      SmallVector<Value> values;
      for (unsigned place = 0; place < op.getValues().size(); ++place)
        values.push_back(emit.load({function.operand(place), element, i}));
      emit.store(treeSum(emit, values), {out, into, i});
    });
  });
  const std::string symbol = function.finish();
  for (unsigned place = 0; place < op.getValues().size(); ++place)
    mayChange(kernels.lookup(symbol), place);
  return {symbol};
}
