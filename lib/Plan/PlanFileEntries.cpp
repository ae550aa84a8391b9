// Entries: inputs and instructions.
#include "lib/Plan/PlanTables.h"

using namespace mlir;

namespace trainc {

fb::Operand writeOperand(plan::OperandAttr operand, PlanTables &tables) {
  return fb::Operand(operand.getOffset(), operand.getLoopStride(), operand.getRankStride(),
                     tables.buffer(operand.getBuffer()),
                     operand.getAxes() ? tables.axes(operand.getAxes()) : fb::Axes());
}

static std::unique_ptr<fb::Operand> writeOperandPtr(plan::OperandAttr operand, PlanTables &tables) {
  return std::make_unique<fb::Operand>(writeOperand(operand, tables));
}

static fb::LaunchT writeLaunch(plan::LaunchOp op, PlanTables &tables) {
  fb::LaunchT launch;
  launch.kernel = tables.kernel(op.getKernelAttr());
  for (auto operand : op.getArgs().getAsRange<plan::OperandAttr>())
    launch.args.push_back(writeOperand(operand, tables));
  return launch;
}

static std::unique_ptr<fb::RangeT> writeRange(plan::RangeAttr range, PlanTables &tables) {
  auto table = std::make_unique<fb::RangeT>();
  table->source = writeOperandPtr(range.getSource(), tables);
  table->destination = writeOperandPtr(range.getDestination(), tables);
  table->elements = range.getElements();
  table->dtype = inSchema(range.getElement());
  table->widens = range.getDestinationElement() != range.getElement();
  if (range.getSum()) {
    table->sum_kernel = tables.kernel(range.getSum());
    table->workspace = writeOperandPtr(range.getWorkspace(), tables);
    table->workspace_bytes = range.getWorkspaceBytes();
  }
  return table;
}

static fb::CollectiveT writeCollective(plan::CollectiveOp op, PlanTables &tables) {
  fb::CollectiveT collective;
  collective.kind = inSchema(op.getKind());
  collective.axes = std::make_unique<fb::Axes>(tables.axes(op.getAxes()));
  collective.sum = fb::DType::F32;
  for (auto range : op.getRanges().getAsRange<plan::RangeAttr>())
    collective.ranges.push_back(writeRange(range, tables));
  return collective;
}

static std::vector<std::unique_ptr<fb::InstructionT>> writeInstructions(Block &block, PlanTables &tables);

static void writeOperation(Operation &op, PlanTables &tables, fb::InstructionT &instruction) {
  fb::OperationUnion &operation = instruction.operation;
  if (auto launch = dyn_cast<plan::LaunchOp>(op)) {
    operation.Set(writeLaunch(launch, tables));
  } else if (isa<plan::MatrixProductOp, plan::AttentionOp>(op)) {
    writeLibraryCall(&op, tables, operation);
  } else if (auto copy = dyn_cast<plan::CopyOp>(op)) {
    fb::CopyT table;
    table.source = writeOperandPtr(copy.getSource(), tables);
    table.destination = writeOperandPtr(copy.getDestination(), tables);
    table.bytes = copy.getBytes();
    operation.Set(std::move(table));
  } else if (auto zero = dyn_cast<plan::ZeroOp>(op)) {
    fb::ZeroT table;
    table.destination = writeOperandPtr(zero.getDestination(), tables);
    table.bytes = zero.getBytes();
    operation.Set(std::move(table));
  } else if (auto collective = dyn_cast<plan::CollectiveOp>(op)) {
    operation.Set(writeCollective(collective, tables));
  } else {
    auto loop = cast<plan::LoopOp>(op);
    fb::LoopT table;
    table.count = loop.getCount();
    table.body = writeInstructions(loop.getBody().front(), tables);
    operation.Set(std::move(table));
  }
  auto interface = cast<plan::InstructionOpInterface>(op);
  instruction.source = tables.source(&op, interface.getSourceOp());
  instruction.stream = inSchema(interface.getStream());
  const ArrayRef<int64_t> after = interface.getAfterOrNone();
  instruction.after.assign(after.begin(), after.end());
}

static std::vector<std::unique_ptr<fb::InstructionT>> writeInstructions(Block &block, PlanTables &tables) {
  std::vector<std::unique_ptr<fb::InstructionT>> instructions;
  for (Operation &op : block) {
    if (isa<plan::InputOp>(op))
      continue;
    instructions.push_back(std::make_unique<fb::InstructionT>());
    writeOperation(op, tables, *instructions.back());
  }
  return instructions;
}

static std::unique_ptr<fb::InputT> writeInput(plan::InputOp op, PlanTables &tables) {
  auto type = cast<RankedTensorType>(op.getType());
  auto input = std::make_unique<fb::InputT>();
  input->column = op.getColumn().str();
  input->buffer = tables.buffer(op.getBufferAttr());
  input->dtype = inSchema(type.getElementType());
  input->shape.assign(type.getShape().begin(), type.getShape().end());
  input->extent = inSchema(op.getExtent());
  input->limit = op.getLimit();
  input->ignore = op.getIgnore();
  input->pads = op.getPads();
  return input;
}

std::unique_ptr<fb::EntryT> writeEntry(plan::EntryOp entry, PlanTables &tables) {
  auto table = std::make_unique<fb::EntryT>();
  table->name = stringifyEntryKind(entry.getKind()).str();
  table->flops = entry.getFlops();
  for (auto input : entry.getOps<plan::InputOp>())
    table->inputs.push_back(writeInput(input, tables));
  table->instructions = writeInstructions(entry.getBody().front(), tables);
  return table;
}

} // namespace trainc
