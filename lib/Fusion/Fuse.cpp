// Pass `fuse`: groups primitive ops into kernels.
#include "lib/Fusion/Passes.h"

#include "dialects/NN/NN.h"
#include "dialects/Train/Train.h"
#include "lib/Analysis/Preconditions.h"
#include "lib/Analysis/StateOrder.h"
#include "lib/Codegen/Target.h"
#include "lib/Fusion/FusionSearch.h"
#include "lib/Fusion/KernelBuilder.h"
#include "lib/Fusion/Legalize.h"
#include "lib/Fusion/Traffic.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/STLExtras.h"

namespace trainc {
#define GEN_PASS_DEF_FUSEPASS
#include "lib/Fusion/Passes.h.inc"
} // namespace trainc

using namespace mlir;
using namespace trainc;

namespace {

struct Fuse : trainc::impl::FusePassBase<Fuse> {
  using trainc::impl::FusePassBase<Fuse>::FusePassBase;

  void runOnOperation() override {
    if (failed(requireConcrete(getOperation())))
      return signalPassFailure();
    const std::unique_ptr<codegen::Target> target = codegen::Target::chosenFor(getOperation());
    machine = target->referenceMachine();
    FusionLimits limits = FusionLimits::of(machine, target->limits().longestRow);
    limits.buffers = maxBuffers;
    limits.ops = maxOps;
    getOperation()->walk([&](Operation *op) {
      bool unit = isa<train::EntryOp, FunctionOpInterface>(op) && op->getNumRegions() == 1 &&
                  !op->getRegion(0).empty();
      if (unit)
        fuseUnit(op, limits);
    });
  }

private:
  /// Fuses the block of an entry or function, and the blocks of its loops.
  void fuseUnit(Operation *unit, const FusionLimits &limits) {
    Block &block = unit->getRegion(0).front();
    int64_t before = trafficOf(block);
    unit->walk([&](nn::ChunksOp chunks) { fuseBlock(chunks.getBody().front(), limits); });
    fuseBlock(block, limits);
    if (!printTraffic)
      return;
    int64_t kernels = 0;
    unit->walk([&](nn::KernelOp) { ++kernels; });
    unit->emitRemark() << kernels << " kernels; bytes moved: " << before << " before fusion, "
                       << trafficOf(block) << " after; on " << machine.name << " values of " << limits.freeOps
                       << " ops are recomputed, and a launch is worth keeping " << limits.launchBytes
                       << " bytes";
  }

  void fuseBlock(Block &block, const FusionLimits &limits) {
    legalizePrimitives(block);
    SmallVector<OpPair> fixed = fixedPairs(block);
    ReadAnalysis reads(block, limits.freeOps);
    FusionGraph graph(block, reads, fixed);
    FusionSearch(graph, limits).run();
    SmallVector<std::pair<Value, Value>> outputs;
    DenseMap<Operation *, Operation *> kernelOf;
    KernelBuilder builder(reads, graph);
    for (const SmallVector<Operation *> &members : graph.kernels()) {
      nn::KernelOp kernel = builder.build(members);
      unsigned next = 0;
      for (Operation *op : members) {
        kernelOf[op] = kernel;
        if (graph.isOutput(op))
          outputs.push_back({op->getResult(0), kernel->getResult(next++)});
      }
    }
    for (auto [old, replacement] : outputs)
      old.replaceAllUsesWith(replacement);
    for (auto &[before, after] : fixed) {
      before = kernelOf.count(before) ? kernelOf[before] : before;
      after = kernelOf.count(after) ? kernelOf[after] : after;
    }
    eraseDead(block, fixed);
    sortBlock(block, fixed);
  }

  Machine machine;

  /// Erases ops that kernels have replaced, and removes them from `fixed`.
  static void eraseDead(Block &block, SmallVectorImpl<OpPair> &fixed) {
    DenseSet<Operation *> dead;
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op)) {
        dead.insert(&op);
        op.erase();
      }
    llvm::erase_if(fixed,
                   [&](auto &pair) { return dead.contains(pair.first) || dead.contains(pair.second); });
  }
};

} // namespace
