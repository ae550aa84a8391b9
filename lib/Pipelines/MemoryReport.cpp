#include "lib/Pipelines/MemoryReport.h"

#include "dialects/Plan/Plan.h"
#include "plan/facts/dtype.h"
#include "plan/facts/step_entries.h"
#include "plan/facts/view.h"
#include "plan/schema/entry_names.h"
#include "plan/schema/enum_words.h"
#include "plan/schema/limits.h"

#include <map>
#include <set>

using namespace mlir;

namespace trainc {

// --- What no plan places ---

/// Program and libraries, a plan and its kernels, stacks of threads, file buffers.
constexpr int64_t kProcessBytes = int64_t{32} << 20;

static std::vector<const fb::Input *> inputsOf(const fb::Entry &entry) {
  if (!entry.inputs())
    return {};
  return {entry.inputs()->begin(), entry.inputs()->end()};
}

/// Returns the bytes of a tensor with `shape` and the input's type.
static int64_t bytesOf(const fb::Input &input, ArrayRef<uint64_t> shape) {
  auto bytes = int64_t(elementBytes(input.dtype()));
  for (const uint64_t extent : shape)
    bytes *= int64_t(extent);
  return bytes;
}

static ArrayRef<uint64_t> shapeOf(const fb::Input &input) {
  return {input.shape()->data(), input.shape()->size()};
}

/// Returns the loader's bytes: batches of this step and the next, with every column that a step's entries
/// read once, and the numbers of their samples.
static int64_t loaderBytes(const fb::Plan &plan) {
  const auto samples = int64_t(plan.training()->micro_batch() * plan.training()->accumulate());
  int64_t bytes = samples * int64_t(sizeof(uint64_t));
  std::set<std::pair<std::string_view, int64_t>> rows; // columns, and bytes of a sample in them
  for (const fb::Entry *entry : stepEntries(plan))
    for (const fb::Input *input : inputsOf(*entry))
      rows.insert({view(input->column()), bytesOf(*input, shapeOf(*input).drop_front())});
  for (const auto &[column, row] : rows)
    bytes += 2 * samples * row;
  return bytes;
}

/// Returns the bytes of an evaluation batch on its way to the device, and of the numbers of its samples.
static int64_t evaluationBytes(const fb::Plan &plan) {
  int64_t bytes = int64_t(plan.training()->eval_batch()) * int64_t(sizeof(uint64_t));
  for (const fb::Entry *entry : *plan.entries())
    if (view(entry->name()) == kEvalEntry)
      for (const fb::Input *input : inputsOf(*entry))
        bytes += bytesOf(*input, shapeOf(*input));
  return bytes;
}

/// Returns the bytes of a prompt, and for each text of logits, and of a token and weight per logit during
/// sampling.
static int64_t generationBytes(const fb::Plan &plan) {
  const fb::Generation *generation = plan.generation();
  if (!generation)
    return 0;
  return int64_t(generation->context()) * int64_t(sizeof(int32_t)) +
         int64_t(generation->batch() * generation->vocabulary()) *
             int64_t(sizeof(float) + sizeof(uint32_t) + sizeof(double));
}

/// A device allocates the memory of a block for each thread, by the largest kernel. The plan does not know
/// the number of threads; trainrun warns about more threads than a limit allows.
static int64_t blockBytes(const fb::Plan &plan) {
  int64_t largest = 0;
  for (const fb::Kernel *kernel : *plan.kernels())
    largest = std::max(largest, int64_t(kernel->shared_bytes()));
  return int64_t(kCountedThreads) * largest;
}

/// Returns the number of instructions, with those in loops.
static int64_t countOf(const flatbuffers::Vector<flatbuffers::Offset<fb::Instruction>> &instructions) {
  auto count = int64_t(instructions.size());
  for (const fb::Instruction *instruction : instructions)
    if (const fb::Loop *loop = instruction->operation_as_Loop())
      count += countOf(*loop->body());
  return count;
}

/// Returns the runtime's bytes for a plan's instructions and states besides the plan itself. 0.6 KiB each
/// were measured for 33000 instructions and 18000 states, with a checkpoint.
static int64_t planBytes(const fb::Plan &plan) {
  constexpr int64_t kEach = 1024;
  int64_t count = plan.states()->size();
  for (const fb::Entry *entry : *plan.entries())
    count += countOf(*entry->instructions());
  return kEach * count;
}

/// Returns the device memory that the program reserves, if it is not the process's memory.
static std::optional<int64_t> reservedBytes(ModuleOp module) {
  for (auto training : module.getOps<plan::TrainingOp>())
    if (auto reserved = training->getAttrOfType<IntegerAttr>("train.reserved"))
      return reserved.getInt();
  return std::nullopt;
}

static int64_t processBytes(const fb::Plan &plan) {
  const int64_t bytes = kProcessBytes + planBytes(plan) + blockBytes(plan) + generationBytes(plan);
  return plan.training() ? bytes + loaderBytes(plan) + evaluationBytes(plan) : bytes;
}

// --- The report ---

MemoryReport memoryReport(ModuleOp module, const fb::Plan &plan) {
  MemoryReport report{memoryByKind(plan, fb::Space::Device), memoryByKind(plan, fb::Space::Host),
                      memoryByKind(plan, fb::Space::Disk)};
  report.peak = report.total() + report.host.total();
  const std::optional<int64_t> reserved = reservedBytes(module);
  report.isReserve = reserved.has_value();
  report.unplanned = reserved ? *reserved : processBytes(plan);
  report.minUnplanned = reserved ? *reserved : kProcessBytes;
  return report;
}

llvm::json::Object memoryByType(const fb::Plan &plan) {
  std::map<std::string, std::map<std::string, int64_t>> bytes;
  for (const fb::Buffer *buffer : *plan.buffers())
    if (plan.arenas()->Get(buffer->arena())->persistent())
      bytes[wordOf(buffer->role())][dtypeName(buffer->dtype())] += int64_t(buffer->bytes());
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
    json[StringRef(kind.key)] = bytes.*kind.bytes;
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
