#include "test/unit/memory/planned_entry.h"

#include "lib/Analysis/KernelAttributes.h"
#include "lib/Memory/Occupancy.h"
#include "lib/Memory/Passes.h"
#include "lib/Reference/Interpreter.h"

#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace mlir;

namespace trainc::test {

static constexpr int64_t kBytes = 4; // of an f32

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Annotates the op with a kernel named by its number: parameters are its operands, except for those that
/// results overwrite, and its results. Row kernels may overwrite any operand of a result's size.
static void annotate(Operation *op, StringRef kernel) {
  Builder builder(op->getContext());
  auto executable = cast<ExecutableOpInterface>(op);
  SmallVector<int64_t> args = llvm::to_vector(llvm::seq<int64_t>(0, op->getNumOperands()));
  SmallVector<Attribute> pairs;
  for (OpResult result : op->getResults()) {
    llvm::erase(args, executable.getInPlaceOperand(result.getResultNumber()));
    for (OpOperand &operand : op->getOpOperands())
      if (isa<nn::KernelOp>(op) && operand.get().getType() == result.getType())
        pairs.push_back(
            builder.getDenseI64ArrayAttr({operand.getOperandNumber(), int64_t(result.getResultNumber())}));
  }
  for (OpResult result : op->getResults())
    args.push_back(op->getNumOperands() + result.getResultNumber());
  Attribute spec = plan::LaunchSpecAttr::get(op->getContext(),
                                             FlatSymbolRefAttr::get(builder.getStringAttr(kernel)), args);
  op->setAttr(kLaunchesAttr, builder.getArrayAttr(spec));
  op->setAttr(kMayAliasAttr, builder.getArrayAttr(pairs));
}

PlannedEntry::PlannedEntry(ModuleOp module) : original_(module.clone()), plan_() {
  number(*original_);
  plan_ = original_->clone();
  PassManager passes(module.getContext());
  passes.addPass(createPlanMemoryPass());
  if (failed(passes.run(*plan_)))
    plan_ = nullptr;
}

void PlannedEntry::number(ModuleOp module) {
  module.walk([&](ExecutableOpInterface op) {
    if (!isGenerated(op.getKernelClass()))
      return;
    const std::string name = "op" + std::to_string(ops_.size());
    annotate(op, name);
    ops_[name] = op;
  });
}

bool PlannedEntry::Range::overlaps(const Range &other) const {
  return arena && arena == other.arena && begin < other.begin + other.elements &&
         other.begin < begin + elements;
}

PlannedEntry::Range PlannedEntry::wholeOf(StringRef name) {
  auto buffer = plan_->lookupSymbol<plan::BufferOp>(name);
  return {&arenas_[buffer.getArena()], int64_t(buffer.getOffset()) / kBytes,
          int64_t(buffer.getBytes()) / kBytes};
}

PlannedEntry::Range PlannedEntry::range(plan::OperandAttr operand, int64_t elements, int64_t iteration) {
  Range whole = wholeOf(operand.getBuffer().getValue());
  const int64_t offset = (operand.getOffset() + iteration * operand.getLoopStride()) / kBytes;
  EXPECT_LE(offset + elements, whole.elements);
  return {whole.arena, whole.begin + offset, elements};
}

void PlannedEntry::run(EntryKind entry, reference::NamedTensors &states) {
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  for (auto arena : plan_->getOps<plan::ArenaOp>())
    arenas_[arena.getSymName()].assign(arena.getBytes() / kBytes, nothing);
  for (auto &[name, tensor] : states)
    llvm::copy(tensor.reals, wholeOf(name).arena->begin() + wholeOf(name).begin);
  runBlock(findEntry<plan::EntryOp>(*plan_, entry).getBody().front(), 0);
  for (auto &[name, tensor] : states)
    std::copy_n(wholeOf(name).arena->begin() + wholeOf(name).begin, tensor.elements(), tensor.reals.begin());
}

void PlannedEntry::runBlock(Block &block, int64_t iteration) {
  for (Operation &op : block) {
    if (auto loop = dyn_cast<plan::LoopOp>(op))
      for (int64_t i = 0; i < int64_t(loop.getCount()); ++i)
        runBlock(loop.getBody().front(), i);
    if (auto zero = dyn_cast<plan::ZeroOp>(op)) {
      const Range to = range(zero.getDestination(), int64_t(zero.getBytes()) / kBytes, iteration);
      std::fill_n(to.arena->begin() + to.begin, to.elements, 0.0);
    }
    if (auto copy = dyn_cast<plan::CopyOp>(op)) {
      const Range from = range(copy.getSource(), int64_t(copy.getBytes()) / kBytes, iteration),
                  to = range(copy.getDestination(), from.elements, iteration);
      EXPECT_FALSE(from.overlaps(to));
      std::copy_n(from.arena->begin() + from.begin, from.elements, to.arena->begin() + to.begin);
    }
    if (auto launched = dyn_cast<plan::LaunchOp>(op))
      launch(launched, iteration);
  }
}

/// Runs the op on the numbers at its operands' addresses. Operands that its results overwrite are destroyed
/// unless the kernel allows it.
void PlannedEntry::launch(plan::LaunchOp launch, int64_t iteration) {
  Operation *op = ops_.lookup(launch.getKernel());
  auto spec = cast<plan::LaunchSpecAttr>(op->getAttrOfType<ArrayAttr>(kLaunchesAttr)[0]);
  SmallVector<Value> values(op->getOperands());
  llvm::append_range(values, op->getResults());
  llvm::DenseMap<int64_t, Range> ranges;
  for (auto [index, place] : llvm::zip(spec.getArgs(), launch.getArgs().getAsRange<plan::OperandAttr>()))
    ranges[index] = range(place, typeOf(values[index]).getNumElements(), iteration);
  reference::Frame frame(nullptr);
  llvm::DenseSet<Value> lost; // an operand may be given twice
  for (unsigned operand = 0; operand < op->getNumOperands(); ++operand) {
    Range from = ranges.lookup(operand);
    for (unsigned result = 0; result < op->getNumResults(); ++result) {
      const Range to = ranges.lookup(op->getNumOperands() + result);
      const std::pair<int64_t, int64_t> pair(operand, result);
      if (cast<ExecutableOpInterface>(op).getInPlaceOperand(result) == int(operand))
        from = to;
      else if (from.overlaps(to) && !(from == to && llvm::is_contained(mayAliasPairs(op), pair)))
        lost.insert(values[operand]);
    }
    reference::Tensor tensor(values[operand]);
    if (lost.contains(values[operand]))
      tensor.reals.assign(tensor.reals.size(), std::numeric_limits<double>::quiet_NaN());
    else
      std::copy_n(from.arena->begin() + from.begin, from.elements, tensor.reals.begin());
    frame.define(values[operand], tensor);
  }
  FailureOr<reference::Tensors> results = reference::runOp(*op, frame);
  ASSERT_TRUE(succeeded(results));
  for (auto [index, tensor] : llvm::enumerate(*results)) {
    const Range to = ranges.lookup(op->getNumOperands() + index);
    for (unsigned other = 0; other < index; ++other)
      EXPECT_FALSE(to.overlaps(ranges.lookup(op->getNumOperands() + other)));
    llvm::copy(tensor.reals, to.arena->begin() + to.begin);
  }
}

/// Small numbers, other ones in each state.
static reference::NamedTensors filled(ModuleOp module) {
  reference::NamedTensors states = reference::EntryMemory(module).states;
  double number = 1;
  for (auto &[name, tensor] : states)
    for (double &element : tensor.reals)
      element = std::sin(number++);
  return states;
}

void expectPlannedAsInterpreted(ModuleOp module, EntryKind entry) {
  reference::EntryMemory memory(module);
  memory.states = filled(module);
  ASSERT_TRUE(succeeded(reference::runEntry(module, entry, memory)));
  PlannedEntry planned(module);
  ASSERT_TRUE(planned.plan());
  reference::NamedTensors states = filled(module);
  planned.run(entry, states);
  for (const auto &[name, expected] : memory.states)
    EXPECT_EQ(states.find(name)->second.reals, expected.reals) << "state " << name;
  if (testing::Test::HasFailure()) {
    module.dump();
    planned.plan().dump();
  }
}

} // namespace trainc::test
