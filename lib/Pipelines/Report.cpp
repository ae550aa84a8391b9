#include "lib/Pipelines/Report.h"

#include "lib/Analysis/CostModel.h"
#include "lib/Analysis/InstructionCost.h"
#include "lib/Pipelines/GatheredWindow.h"
#include "lib/Pipelines/LargestBatch.h"
#include "lib/Pipelines/Planner.h"
#include "lib/Support/StoredElement.h"
#include "runtime/schema/limits.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <map>

using namespace mlir;

namespace trainc {

/// How often a training step runs an entry.
static int64_t runsPerStep(ModuleOp module, EntryKind entry) {
  using enum EntryKind;
  if (entry == begin_step || entry == last_micro_step || entry == update)
    return 1;
  if (entry != micro_step)
    return 0;
  const bool isLastApart = findEntry<plan::EntryOp>(module, last_micro_step) != nullptr;
  for (auto training : module.getOps<plan::TrainingOp>())
    return training.getAccumulate() - (isLastApart ? 1 : 0);
  return 1;
}

/// Program and libraries, a plan and its kernels, the threads' stacks, buffers for files.
constexpr int64_t kProcessBytes = int64_t{32} << 20;

/// The loader's batches, of this step and the next, with every column once that a step's entries read; and
/// the numbers of their samples.
static int64_t loaderBytes(ModuleOp module, plan::TrainingOp training) {
  const int64_t samples = int64_t(training.getMicroBatch()) * int64_t(training.getAccumulate());
  llvm::SetVector<std::pair<StringRef, Type>> rows;
  for (auto entry : module.getOps<plan::EntryOp>())
    if (runsPerStep(module, entry.getKind()) > 0)
      for (auto input : entry.getBody().getOps<plan::InputOp>()) {
        auto type = cast<RankedTensorType>(input.getType());
        rows.insert({input.getColumn(), type.clone(type.getShape().drop_front())});
      }
  int64_t bytes = samples * int64_t(sizeof(uint64_t));
  for (auto [column, row] : rows)
    bytes += 2 * samples * tensorBytes(row);
  return bytes;
}

/// An evaluation batch on its way to the device, and the numbers of its samples.
static int64_t evaluationBytes(ModuleOp module, plan::TrainingOp training) {
  int64_t bytes = int64_t(training.getEvalBatch()) * int64_t(sizeof(uint64_t));
  if (auto entry = findEntry<plan::EntryOp>(module, EntryKind::eval))
    for (auto input : entry.getBody().getOps<plan::InputOp>())
      bytes += tensorBytes(input.getType());
  return bytes;
}

/// A prompt; logits, and of each the token and its weight while one is drawn.
static int64_t generationBytes(ModuleOp module) {
  int64_t bytes = 0;
  for (auto generation : module.getOps<plan::GenerationOp>())
    bytes += int64_t(generation.getContext()) * int64_t(sizeof(int32_t)) +
             int64_t(generation.getVocabulary()) * int64_t(sizeof(float) + sizeof(uint32_t) + sizeof(double));
  return bytes;
}

/// A device gives each thread the memory of a block, as much as the largest kernel takes. A plan does not
/// know how many threads a machine has: trainrun warns of more that a limit has no room for.
static int64_t blockBytes(ModuleOp module) {
  int64_t largest = 0;
  module.walk([&](plan::KernelOp kernel) { largest = std::max(largest, int64_t(kernel.getSharedBytes())); });
  return int64_t(kCountedThreads) * largest;
}

/// What the runtime knows of the plan's instructions and states, besides the plan itself: 0.6 KiB each were
/// measured for 33000 instructions and 18000 states, with a checkpoint.
static int64_t planBytes(ModuleOp module) {
  constexpr int64_t kEach = 1024;
  int64_t count = 0;
  module.walk([&](plan::InstructionOpInterface) { ++count; });
  module.walk([&](plan::StateOp) { ++count; });
  return kEach * count;
}

/// What the program reserves of the device's memory, where that is not the process's.
static std::optional<int64_t> reservedBytes(ModuleOp module) {
  for (auto training : module.getOps<plan::TrainingOp>())
    if (auto reserved = training->getAttrOfType<IntegerAttr>("train.reserved"))
      return reserved.getInt();
  return std::nullopt;
}

static int64_t processBytes(ModuleOp module) {
  int64_t bytes = kProcessBytes + planBytes(module) + blockBytes(module) + generationBytes(module);
  for (auto training : module.getOps<plan::TrainingOp>())
    bytes += loaderBytes(module, training) + evaluationBytes(module, training);
  return bytes;
}

static BytesByKind &bytesIn(plan::Space space, MemoryReport &report) {
  if (space == plan::Space::disk)
    return report.disk;
  return space == plan::Space::host ? report.host : report;
}

static int64_t BytesByKind::*kindOf(plan::Role role) {
  if (role == plan::Role::parameter)
    return &BytesByKind::parameters;
  if (role == plan::Role::gradient)
    return &BytesByKind::gradients;
  return role == plan::Role::optimizer ? &BytesByKind::optimizer : &BytesByKind::workspace;
}

MemoryReport memoryReport(ModuleOp module) {
  MemoryReport report;
  llvm::StringMap<BytesByKind *> persistent; // by names of arenas
  for (auto arena : module.getOps<plan::ArenaOp>()) {
    BytesByKind &bytes = bytesIn(arena.getSpace(), report);
    if (arena.getPersistent())
      persistent[arena.getSymName()] = &bytes;
    (arena.getPersistent() ? bytes.workspace : bytes.activations) += arena.getBytes();
  }
  for (auto buffer : module.getOps<plan::BufferOp>())
    if (BytesByKind *bytes = persistent.lookup(buffer.getArena())) {
      bytes->workspace -= buffer.getBytes();
      bytes->*kindOf(buffer.getRole()) += buffer.getBytes();
    }
  report.peak = report.total() + report.host.total();
  const std::optional<int64_t> reserved = reservedBytes(module);
  report.isReserve = reserved.has_value();
  report.unplanned = reserved ? *reserved : processBytes(module);
  return report;
}

/// Number of trained and frozen parameters.
static int64_t parameterCount(ModuleOp module) {
  int64_t count = 0;
  for (auto state : module.getOps<plan::StateOp>())
    if (state.getRole() == plan::Role::parameter)
      count += cast<RankedTensorType>(state.getType()).getNumElements();
  return count;
}

StepFlops flopsPerStep(ModuleOp module) {
  StepFlops flops;
  for (auto entry : module.getOps<plan::EntryOp>()) {
    const int64_t runs = runsPerStep(module, entry.getKind());
    flops.model += runs * int64_t(entry.getFlops());
    flops.recomputed += runs * int64_t(entry.getRecomputedFlops());
  }
  return flops;
}

/// Number and bytes of a training step's collectives, by kind.
static llvm::MapVector<StringRef, std::pair<int64_t, int64_t>> collectives(ModuleOp module) {
  llvm::MapVector<StringRef, std::pair<int64_t, int64_t>> kinds;
  for (auto training : module.getOps<plan::TrainingOp>())
    for (auto entry : module.getOps<plan::EntryOp>()) {
      const int64_t runs = runsPerStep(module, entry.getKind());
      for (auto collective : entry.getBody().getOps<plan::CollectiveOp>()) {
        auto &[count, bytes] = kinds[stringifyCollectiveKind(collective.getKind())];
        count += runs;
        bytes += runs * ringBytes(collective, training);
      }
    }
  return kinds;
}

int64_t sentBytesPerStep(ModuleOp module) {
  int64_t bytes = 0;
  for (auto &[kind, sums] : collectives(module))
    bytes += sums.second;
  return bytes;
}

static llvm::json::Object collectivesJson(ModuleOp module) {
  llvm::json::Object json;
  for (auto &[kind, sums] : collectives(module))
    if (sums.first > 0)
      json[kind] = llvm::json::Object{{"count", sums.first}, {"bytes", sums.second}};
  return json;
}

EntrySeconds predictStep(ModuleOp module, const Machine &machine) {
  EntrySeconds step;
  for (auto training : module.getOps<plan::TrainingOp>())
    for (auto entry : module.getOps<plan::EntryOp>()) {
      const auto runs = double(runsPerStep(module, entry.getKind()));
      const EntrySeconds each = predictSeconds(entry, training, machine);
      step.total += runs * each.total;
      step.communication += runs * each.communication;
      step.exposed += runs * each.exposed;
    }
  return step;
}

/// What a training step's instructions take, equal ones together, the costliest first.
static llvm::json::Array costs(ModuleOp module, const Machine &machine) {
  std::vector<CostRow> rows;
  for (auto entry : module.getOps<plan::EntryOp>())
    if (const int64_t runs = runsPerStep(module, entry.getKind()); runs > 0)
      addCosts(entry, double(runs), machine, rows);
  llvm::sort(rows, [](const CostRow &a, const CostRow &b) {
    return std::tuple(b.seconds(), a.what, a.each.bytes) < std::tuple(a.seconds(), b.what, b.each.bytes);
  });
  llvm::json::Array json;
  for (const CostRow &row : rows)
    json.push_back(llvm::json::Object{{"what", row.what},
                                      {"source", llvm::json::fixUTF8(row.source)},
                                      {"count", row.count},
                                      {"flops", row.each.flops},
                                      {"bytes", row.each.bytes},
                                      {"bound_by", std::string(row.each.boundBy())},
                                      {"seconds", row.each.seconds()}});
  return json;
}

/// The words that say how ranks divide and gather; empty on one rank.
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

/// Every setting of the program, its value and where that comes from.
static llvm::json::Array settings(ModuleOp module) {
  llvm::json::Array json;
  for (auto training : module.getOps<plan::TrainingOp>())
    for (auto setting : training->getAttrOfType<ArrayAttr>("train.settings").getAsRange<ArrayAttr>()) {
      auto text = [&](unsigned index) {
        return llvm::json::fixUTF8(
            cast<StringAttr>(setting[index]).getValue()); // names of files may be anything
      };
      json.push_back(llvm::json::Object{{"setting", text(0)}, {"value", text(1)}, {"source", text(2)}});
    }
  return json;
}

/// Bytes of persistent states, for each role and element type.
static llvm::json::Object memoryByType(ModuleOp module) {
  std::map<std::string, std::map<std::string, int64_t>> bytes;
  const SymbolTable symbols(module);
  for (auto buffer : module.getOps<plan::BufferOp>()) {
    if (!symbols.lookup<plan::ArenaOp>(buffer.getArena()).getPersistent())
      continue;
    std::string type;
    llvm::raw_string_ostream(type) << buffer.getElement();
    bytes[plan::stringifyRole(buffer.getRole()).str()][type] += buffer.getBytes();
  }
  llvm::json::Object json;
  for (const auto &[role, types] : bytes) {
    llvm::json::Object of;
    for (const auto &[type, count] : types)
      of[type] = count;
    json[role] = std::move(of);
  }
  return json;
}

static llvm::json::Object kindsJson(const BytesByKind &bytes) {
  llvm::json::Object json;
  for (const MemoryKind &kind : kMemoryKinds)
    json[kind.key] = bytes.*kind.bytes;
  return json;
}

llvm::json::Object memoryJson(const MemoryReport &memory) {
  llvm::json::Object json = kindsJson(memory);
  json["host"] = memory.host.total();
  json["disk"] = memory.disk.total();
  json["peak"] = memory.peak;
  json["unplanned"] = memory.unplanned;
  return json;
}

llvm::json::Object memoryOutsideJson(const MemoryReport &memory) {
  llvm::json::Object json;
  if (memory.host.total() > 0)
    json["host"] = kindsJson(memory.host);
  if (memory.disk.total() > 0)
    json["disk"] = kindsJson(memory.disk);
  return json;
}

std::string reportJson(ModuleOp module, std::optional<OnThisMachine> here, const Planning *planning) {
  const MemoryReport memory = memoryReport(module);
  llvm::json::Object bytes = memoryJson(memory);
  bytes["gathered"] = gatheredWindow(module);
  const StepFlops flops = flopsPerStep(module);
  llvm::json::Object json{
      {"parameters", parameterCount(module)},
      {"flops_per_step", flops.model},
      {"memory", std::move(bytes)},
      {"memory_outside", memoryOutsideJson(memory)},
      {"memory_by_type", memoryByType(module)},
      {"sharding", sharding(module)},
      {"collectives", collectivesJson(module)},
      {"settings", settings(module)},
  };
  if (flops.recomputed > 0)
    json["recomputed_flops_per_step"] = flops.recomputed;
  for (auto generation : module.getOps<plan::GenerationOp>())
    json["generation"] = llvm::json::Object{{"context", int64_t(generation.getContext())},
                                            {"vocabulary", int64_t(generation.getVocabulary())}};
  for (auto refusal : module.getOps<plan::NoGenerationOp>())
    json["no_generation"] = refusal.getReason();
  if (planning && !planning->tried.empty())
    json["planner"] = planningJson(*planning);
  if (planning && !planning->largestBatches.empty())
    json["largest_batches"] = largestBatchesJson(planning->limit, planning->largestBatches);
  if (here) {
    const EntrySeconds step = predictStep(module, here->machine);
    json["predicted_step_seconds"] = step.total;
    if (step.communication > 0) {
      json["predicted_communication_seconds"] = step.communication;
      json["predicted_exposed_share"] = step.exposed / step.communication;
    }
    json["machine"] = llvm::json::Object{{"name", here->machine.name},
                                         {"flops_per_second", here->machine.peakFlopsPerSecond}};
    json["costs"] = costs(module, here->machine);
    json["compile_seconds"] = here->compileSeconds;
  }
  return llvm::formatv("{0:2}\n", llvm::json::Value(std::move(json)));
}

} // namespace trainc
