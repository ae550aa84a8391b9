#include "lib/Plan/EmittedPlan.h"

#include "lib/Plan/PlanTables.h"
#include "plan/facts/work.h"

using namespace mlir;

namespace trainc {

EmittedPlan::EmittedPlan(ModuleOp module) : EmittedPlan(writeTables(module)) {}

EmittedPlan::EmittedPlan(const fb::PlanT &plan) {
  fb::FinishPlanBuffer(builder_, fb::Plan::Pack(builder_, &plan));
}

const fb::Entry &EmittedPlan::entry(plan::EntryOp entry) const {
  const StringRef name = stringifyEntryKind(entry.getKind());
  return **llvm::find_if(*(*this)->entries(), [&](const fb::Entry *each) {
    return StringRef(each->name()->c_str(), each->name()->size()) == name;
  });
}

/// Calls `ask` with the table of `object`.
template <typename Object, typename Function> static Work ofTable(const Object &object, Function ask) {
  using Table = typename Object::TableType;
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(Table::Pack(builder, &object));
  return ask(*flatbuffers::GetRoot<Table>(builder.GetBufferPointer()));
}

Work workOf(plan::KernelOp kernel) { return ofTable(*writeKernel(kernel), workOfLaunch); }

Work workOfCall(Operation *call) {
  PlanTables noTables;
  fb::InstructionT instruction;
  writeLibraryCall(call, noTables, instruction.operation);
  return ofTable(instruction, [](const fb::Instruction &table) { return workOfCall(table); });
}

} // namespace trainc
