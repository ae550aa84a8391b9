#include "lib/Pipelines/Report.h"

#include "lib/Pipelines/Planning.h"
#include "lib/Plan/EmittedPlan.h"
#include "plan/facts/counts.h"
#include "plan/facts/gathered_window.h"
#include "plan/facts/step_entries.h"
#include "plan/facts/work.h"
#include "plan/schema/enum_words.h"
#include "plan/simulate/simulation.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;

namespace trainc {

/// Returns the work of a rank in a training step.
static StepFlops flopsPerStep(ModuleOp module, const fb::Plan &plan) {
  StepFlops flops;
  for (auto [entry, table] : llvm::zip(module.getOps<plan::EntryOp>(), *plan.entries())) {
    const auto runs = int64_t(runsPerStep(plan, *table));
    flops.model += runs * int64_t(entry.getFlops());
    flops.recomputed += runs * int64_t(entry.getRecomputedFlops());
  }
  return flops;
}

/// Number and bytes of a training step's collectives of one kind.
struct CollectiveSums {
  uint64_t count = 0;
  double bytes = 0; ///< that each rank sends
};

/// Returns the sums for each kind.
static llvm::MapVector<StringRef, CollectiveSums> collectives(const fb::Plan &plan) {
  llvm::MapVector<StringRef, CollectiveSums> kinds;
  for (const fb::Entry *entry : stepEntries(plan))
    for (const fb::Instruction *instruction : *entry->instructions())
      if (const fb::Collective *collective = instruction->operation_as_Collective()) {
        const uint64_t runs = runsPerStep(plan, *entry);
        CollectiveSums &sums = kinds[wordOf(collective->kind())];
        sums.count += runs;
        sums.bytes += double(runs) * exchangeOf(plan, *collective).bytesSent;
      }
  return kinds;
}

/// Returns the bytes that each rank sends in a training step.
static int64_t sentBytesPerStep(const fb::Plan &plan) {
  double bytes = 0;
  for (auto &[kind, sums] : collectives(plan))
    bytes += sums.bytes;
  return int64_t(bytes);
}

static llvm::json::Object collectivesJson(const fb::Plan &plan) {
  llvm::json::Object json;
  for (auto &[kind, sums] : collectives(plan))
    json[kind] = llvm::json::Object{{"count", sums.count}, {"bytes", int64_t(sums.bytes)}};
  return json;
}

Evaluation evaluationOf(ModuleOp module, const Machine &machine) {
  const EmittedPlan plan(module);
  return {memoryReport(module, *plan), predictStep(*plan, machine), flopsPerStep(module, *plan),
          sentBytesPerStep(*plan)};
}

/// Returns the predicted costs of a training step's instructions, equal ones combined, the most expensive
/// first.
static llvm::json::Array costs(const fb::Plan &plan, const Machine &machine) {
  llvm::json::Array json;
  for (const SimulatedRow &row : instructionRows(plan, machine))
    if (!row.isCollective && row.seconds() > 0)
      json.push_back(llvm::json::Object{{"what", row.what},
                                        {"source", llvm::json::fixUTF8(row.source)},
                                        {"count", row.count},
                                        {"flops", row.each.flops},
                                        {"bytes", row.each.bytes},
                                        {"bound_by", std::string(row.each.boundBy())},
                                        {"seconds", row.each.seconds()}});
  return json;
}

/// Returns the words of sharding in force; empty on one rank.
static llvm::json::Object sharding(ModuleOp module) {
  llvm::json::Object json;
  for (auto training : module.getOps<plan::TrainingOp>())
    if (auto words = training->getAttrOfType<DictionaryAttr>("train.sharding"))
      for (NamedAttribute word : words) {
        llvm::json::Value &value = json[word.getName().strref()];
        if (auto truth = dyn_cast<BoolAttr>(word.getValue()))
          value = truth.getValue();
        else if (auto number = dyn_cast<IntegerAttr>(word.getValue()))
          value = number.getInt();
        else
          value = cast<StringAttr>(word.getValue()).getValue();
      }
  return json;
}

/// Returns every setting of the program with its value and its source.
static llvm::json::Array settings(ModuleOp module) {
  llvm::json::Array json;
  for (auto training : module.getOps<plan::TrainingOp>())
    for (auto setting : training->getAttrOfType<ArrayAttr>("train.settings").getAsRange<ArrayAttr>()) {
      auto text = [&](unsigned index) {
        return llvm::json::fixUTF8(
            cast<StringAttr>(setting[index]).getValue()); // file names may be any bytes
      };
      llvm::json::Object each{{"setting", text(0)}, {"value", text(1)}, {"source", text(2)}};
      if (cast<BoolAttr>(setting[3]).getValue())
        each["changes_numbers"] = true;
      json.push_back(std::move(each));
    }
  return json;
}

std::string reportJson(ModuleOp module, const fb::Plan &plan, std::optional<OnThisMachine> here,
                       const Planning *planning) {
  const MemoryReport memory = memoryReport(module, plan);
  llvm::json::Object bytes = memoryJson(memory);
  bytes["gathered"] = gatheredWindow(plan);
  const StepFlops flops = flopsPerStep(module, plan);
  llvm::json::Object json{
      {"parameters", parameterCount(plan)},   {"flops_per_step", flops.model},
      {"memory", std::move(bytes)},           {"offloaded_memory", offloadedMemoryJson(memory)},
      {"memory_by_type", memoryByType(plan)}, {"sharding", sharding(module)},
      {"collectives", collectivesJson(plan)}, {"settings", settings(module)},
  };
  for (auto training : module.getOps<plan::TrainingOp>())
    json["offload_to"] = training->getAttrOfType<StringAttr>("train.offload_to").getValue();
  if (flops.recomputed > 0)
    json["recomputed_flops_per_step"] = flops.recomputed;
  for (auto generation : module.getOps<plan::GenerationOp>())
    json["generation"] = llvm::json::Object{{"context", int64_t(generation.getContext())},
                                            {"vocabulary", int64_t(generation.getVocabulary())},
                                            {"batch", int64_t(generation.getBatch())}};
  for (auto reason : module.getOps<plan::NoGenerationOp>())
    json["no_generation"] = reason.getReason();
  for (auto reason : module.getOps<plan::NoTrainingOp>())
    json["no_training"] = reason.getReason();
  if (planning && planning->chosen())
    json["planner"] = planningJson(*planning);
  if (planning && !planning->largestBatches.empty())
    json["largest_batches"] = largestBatchesJson(planning->limit, planning->largestBatches);
  if (here) {
    const StepSeconds step = predictStep(plan, here->machine);
    json["predicted_step_seconds"] = step.total;
    if (step.communication > 0) {
      json["predicted_communication_seconds"] = step.communication;
      json["predicted_exposed_share"] = step.exposed / step.communication;
    }
    json["machine"] = llvm::json::Object{{"name", here->machine.name},
                                         {"flops_per_second", here->machine.peakFlopsPerSecond}};
    json["costs"] = costs(plan, here->machine);
    json["compile_seconds"] = here->compileSeconds;
  }
  return llvm::formatv("{0:2}\n", llvm::json::Value(std::move(json)));
}

} // namespace trainc
