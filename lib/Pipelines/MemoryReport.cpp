#include "lib/Pipelines/MemoryReport.h"

#include "dialects/Plan/Plan.h"
#include "lib/Pipelines/StepRuns.h"
#include "lib/Support/StoredElement.h"
#include "plan/schema/limits.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

#include <map>

using namespace mlir;

namespace trainc {

// --- What no plan places ---

/// Program and libraries, a plan and its kernels, stacks of threads, file buffers.
constexpr int64_t kProcessBytes = int64_t{32} << 20;

/// Returns the loader's bytes: batches of this step and the next, with every column that a step's entries
/// read once, and the numbers of their samples.
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

/// Returns the bytes of an evaluation batch on its way to the device, and of the numbers of its samples.
static int64_t evaluationBytes(ModuleOp module, plan::TrainingOp training) {
  int64_t bytes = int64_t(training.getEvalBatch()) * int64_t(sizeof(uint64_t));
  if (auto entry = findEntry<plan::EntryOp>(module, EntryKind::eval))
    for (auto input : entry.getBody().getOps<plan::InputOp>())
      bytes += tensorBytes(input.getType());
  return bytes;
}

/// Returns the bytes of a prompt, of logits, and of a token and weight per logit during sampling.
static int64_t generationBytes(ModuleOp module) {
  int64_t bytes = 0;
  for (auto generation : module.getOps<plan::GenerationOp>())
    bytes += int64_t(generation.getContext()) * int64_t(sizeof(int32_t)) +
             int64_t(generation.getVocabulary()) * int64_t(sizeof(float) + sizeof(uint32_t) + sizeof(double));
  return bytes;
}

/// A device allocates the memory of a block for each thread, by the largest kernel. The plan does not know
/// the number of threads; trainrun warns about more threads than a limit allows.
static int64_t blockBytes(ModuleOp module) {
  int64_t largest = 0;
  module.walk([&](plan::KernelOp kernel) { largest = std::max(largest, int64_t(kernel.getSharedBytes())); });
  return int64_t(kCountedThreads) * largest;
}

/// Returns the runtime's bytes for a plan's instructions and states besides the plan itself. 0.6 KiB each
/// were measured for 33000 instructions and 18000 states, with a checkpoint.
static int64_t planBytes(ModuleOp module) {
  constexpr int64_t kEach = 1024;
  int64_t count = 0;
  module.walk([&](plan::InstructionOpInterface) { ++count; });
  module.walk([&](plan::StateOp) { ++count; });
  return kEach * count;
}

/// Returns the device memory that the program reserves, if it is not the process's memory.
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

// --- The report ---

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

llvm::json::Object memoryByType(ModuleOp module) {
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

llvm::json::Object offloadedMemoryJson(const MemoryReport &memory) {
  llvm::json::Object json;
  if (memory.host.total() > 0)
    json["host"] = kindsJson(memory.host);
  if (memory.disk.total() > 0)
    json["disk"] = kindsJson(memory.disk);
  return json;
}

} // namespace trainc
