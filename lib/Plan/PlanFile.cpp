#include "lib/Plan/PlanFile.h"

#include "lib/Plan/EmittedPlan.h"
#include "lib/Plan/PlanTables.h"
#include "lib/Support/SourceName.h"
#include "lib/Support/StoredElement.h"
#include "plan/facts/schedules.h"
#include "plan/facts/work.h"
#include "plan/schema/limits.h"
#include "plan/settings/limits.h"

using namespace mlir;

namespace trainc {

static_assert(train::kMaxRanks == kMaxRanks);

template <typename Op> static void numberSymbols(ModuleOp module, llvm::StringMap<uint32_t> &indices) {
  for (auto op : module.getOps<Op>())
    indices.try_emplace(op.getSymName(), uint32_t(indices.size()));
}

PlanTables::PlanTables(ModuleOp module) : mesh_(dist::meshOf(module)) {
  numberSymbols<plan::ArenaOp>(module, arenas_);
  numberSymbols<plan::BufferOp>(module, buffers_);
  numberSymbols<plan::KernelOp>(module, kernels_);
}

uint32_t PlanTables::source(Operation *op, StringRef name) {
  const FileLineColLoc file = fileLocation(op->getLoc()); // equal places are one attribute
  const auto [known, isNew] = sourceIndex_.try_emplace({file, name}, uint32_t(sources_.size()));
  if (!isNew)
    return known->second;
  auto source = std::make_unique<fb::SourceT>();
  source->op = name.str();
  if (file) {
    source->file = file.getFilename().str();
    source->line = file.getLine();
    source->column = file.getColumn();
  }
  sources_.push_back(std::move(source));
  return known->second;
}

fb::DType inSchema(Type element) {
  if (element.isF32())
    return fb::DType::F32;
  if (element.isF64())
    return fb::DType::F64;
  if (element.isBF16())
    return fb::DType::BF16;
  if (element.isF16())
    return fb::DType::F16;
  if (isa<Float8E4M3FNType>(element))
    return fb::DType::F8E4M3;
  if (isa<Float8E5M2Type>(element))
    return fb::DType::F8E5M2;
  if (element.isInteger(64))
    return fb::DType::I64;
  if (element.isInteger(32))
    return fb::DType::I32;
  if (element.isInteger(8))
    return fb::DType::U8;
  llvm_unreachable("element type that no plan holds");
}

static std::vector<uint64_t> shapeOf(Type type) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
  return {shape.begin(), shape.end()};
}

static void writeMesh(const Mesh &mesh, fb::PlanT &plan) {
  for (const Axis &axis : mesh.axes()) {
    auto table = std::make_unique<fb::AxisT>();
    table->name = axis.name;
    table->size = axis.size;
    plan.mesh.push_back(std::move(table));
  }
  plan.ranks = mesh.ranks();
}

static void writeMemory(ModuleOp module, PlanTables &tables, fb::PlanT &plan) {
  for (auto arena : module.getOps<plan::ArenaOp>()) {
    auto table = std::make_unique<fb::ArenaT>();
    table->name = arena.getSymName().str();
    table->bytes = arena.getBytes();
    table->space = inSchema(arena.getSpace());
    table->persistent = arena.getPersistent();
    plan.arenas.push_back(std::move(table));
  }
  for (auto buffer : module.getOps<plan::BufferOp>()) {
    auto table = std::make_unique<fb::BufferT>();
    table->name = buffer.getSymName().str();
    table->arena = tables.arena(buffer.getArenaAttr());
    table->offset = buffer.getOffset();
    table->bytes = buffer.getBytes();
    table->dtype = inSchema(buffer.getElement());
    table->role = inSchema(buffer.getRole());
    if (const auto fetched = buffer.getFetchedAttr())
      table->fetched = std::make_unique<fb::Operand>(writeOperand(fetched, tables));
    if (const auto stored = buffer.getStoredAttr())
      for (auto place : stored.getAsRange<plan::OperandAttr>())
        table->stored.push_back(writeOperand(place, tables));
    plan.buffers.push_back(std::move(table));
  }
}

std::unique_ptr<fb::KernelT> writeKernel(plan::KernelOp kernel) {
  auto table = std::make_unique<fb::KernelT>();
  table->symbol = kernel.getSymName().str();
  table->kind = inSchema(kernel.getKind());
  table->grid = kernel.getGrid();
  table->flops = kernel.getFlops();
  if (const auto moved = kernel.getMovedBytes())
    table->moved_bytes = *moved;
  table->chain = kernel.getChain();
  table->arithmetic = kernel.getArithmetic();
  table->threads = kernel.getThreads();
  table->shared_bytes = kernel.getSharedBytes();
  table->on_host = kernel.getOnHost();
  for (auto param : kernel.getParams().getAsRange<plan::ParamAttr>()) {
    auto entry = std::make_unique<fb::ParamT>();
    entry->access = inSchema(param.getAccess());
    entry->dtype = inSchema(param.getElement());
    entry->bytes = param.getBytes();
    entry->may_alias.assign(param.getMayAlias().begin(), param.getMayAlias().end());
    table->params.push_back(std::move(entry));
  }
  return table;
}

static void writeStates(ModuleOp module, PlanTables &tables, fb::PlanT &plan) {
  for (auto state : module.getOps<plan::StateOp>()) {
    auto table = std::make_unique<fb::StateT>();
    table->name = state.getName().str();
    table->buffer = tables.buffer(state.getBufferAttr());
    table->dtype = inSchema(storedElement(cast<RankedTensorType>(state.getType()).getElementType()));
    table->shape = shapeOf(state.getType());
    table->role = inSchema(state.getRole());
    table->offset = state.getOffset();
    if (const auto sharded = state.getShardedAttr())
      table->sharded = std::make_unique<fb::Axes>(tables.axes(sharded));
    plan.states.push_back(std::move(table));
  }
  for (auto scalar : module.getOps<plan::ScalarOp>()) {
    auto table = std::make_unique<fb::ScalarT>();
    table->name = scalar.getName().str();
    table->buffer = tables.buffer(scalar.getBufferAttr());
    table->dtype = inSchema(scalar.getElement());
    table->direction = inSchema(scalar.getDirection());
    table->count = scalar.getCount();
    plan.scalars.push_back(std::move(table));
  }
}

static void writeTraining(ModuleOp module, PlanTables &tables, fb::PlanT &plan) {
  for (auto training : module.getOps<plan::TrainingOp>()) {
    auto table = std::make_unique<fb::TrainingT>();
    table->micro_batch = training.getMicroBatch();
    table->accumulate = training.getAccumulate();
    table->seq_len = training.getSeqLen();
    table->steps = training.getSteps();
    table->eval_batch = training.getEvalBatch();
    table->likelihood = training.getLikelihood();
    table->model_checksum = training.getModelChecksum().value_or(0);
    table->schedule = std::make_unique<fb::ScheduleT>();
    table->schedule->kind = *findSchedule(training.getSchedule());
    table->schedule->peak = training.getPeak().convertToDouble();
    table->schedule->numbers = training.getNumbers().vec();
    table->schedule->total = training.getTotal();
    table->schedule->skipped_advance = training.getSkippedAdvance();
    plan.training = std::move(table);
  }
  for (auto generation : module.getOps<plan::GenerationOp>()) {
    auto table = std::make_unique<fb::GenerationT>();
    table->context = generation.getContext();
    table->vocabulary = generation.getVocabulary();
    table->logits = tables.buffer(generation.getLogitsAttr());
    table->batch = generation.getBatch();
    plan.generation = std::move(table);
  }
  for (auto reason : module.getOps<plan::NoGenerationOp>())
    plan.no_generation = reason.getReason().str();
  for (auto reason : module.getOps<plan::NoTrainingOp>())
    plan.no_training = reason.getReason().str();
  for (auto file : module.getOps<plan::ExportOp>()) {
    auto table = std::make_unique<fb::ExportT>();
    table->file = file.getFile().str();
    table->text = file.getText().str();
    plan.exports.push_back(std::move(table));
  }
}

fb::PlanT writeTables(ModuleOp module) {
  fb::PlanT plan;
  PlanTables tables(module);
  writeMesh(tables.mesh(), plan);
  writeMemory(module, tables, plan);
  for (auto kernel : module.getOps<plan::KernelOp>())
    plan.kernels.push_back(writeKernel(kernel));
  for (auto entry : module.getOps<plan::EntryOp>())
    plan.entries.push_back(writeEntry(entry, tables));
  writeStates(module, tables, plan);
  writeTraining(module, tables, plan);
  plan.sources = tables.takeSources();
  return plan;
}

/// Sets the predicted seconds of instructions, whose tables in the plan are `packed`.
static void predict(std::vector<std::unique_ptr<fb::InstructionT>> &instructions,
                    const flatbuffers::Vector<flatbuffers::Offset<fb::Instruction>> &packed,
                    const fb::Plan &plan, const Machine &machine) {
  for (auto [instruction, table] : llvm::zip(instructions, packed)) {
    instruction->predicted_seconds = float(instructionSeconds(plan, *table, machine));
    if (fb::LoopT *loop = instruction->operation.AsLoop())
      predict(loop->body, *table->operation_as_Loop()->body(), plan, machine);
  }
}

std::vector<uint8_t> serializePlan(fb::PlanT plan, const EmittedPlan &emitted, StringRef name,
                                   StringRef target, const Machine &machine,
                                   std::vector<KernelObject> objects, StringRef report) {
  for (auto [entry, packed] : llvm::zip(plan.entries, *emitted->entries()))
    predict(entry->instructions, *packed->instructions(), *emitted, machine);
  plan.name = name.str();
  plan.producer = std::string("trainc ") + TRAINC_VERSION;
  plan.target = target.str();
  plan.report = report.str();
  for (KernelObject &object : objects) {
    auto table = std::make_unique<fb::ObjectT>();
    table->level = object.level;
    table->features = object.features;
    table->image = std::move(object.image);
    plan.objects.push_back(std::move(table));
  }
  flatbuffers::FlatBufferBuilder builder;
  fb::FinishPlanBuffer(builder, fb::Plan::Pack(builder, &plan));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

} // namespace trainc
