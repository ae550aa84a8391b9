#include "lib/Pipelines/Report.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;

namespace trainc {

MemoryReport memoryReport(ModuleOp module) {
  MemoryReport report;
  int64_t scratch = 0;
  for (auto arena : module.getOps<plan::ArenaOp>()) {
    report.peak += arena.getBytes();
    if (arena.getSymName() == "scratch")
      scratch = arena.getBytes();
  }
  int64_t named = 0;
  for (auto buffer : module.getOps<plan::BufferOp>()) {
    if (buffer.getArena() != "persistent")
      continue;
    named += buffer.getBytes();
    switch (buffer.getRole()) {
    case plan::Role::parameter:
      report.parameters += buffer.getBytes();
      break;
    case plan::Role::gradient:
      report.gradients += buffer.getBytes();
      break;
    case plan::Role::optimizer:
      report.optimizer += buffer.getBytes();
      break;
    default:
      report.workspace += buffer.getBytes();
    }
  }
  report.activations = scratch;
  report.workspace += report.peak - scratch - named; // alignment between buffers
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

/// Work of a training step: every micro-batch's and the update's.
static int64_t flopsPerStep(ModuleOp module) {
  int64_t accumulate = 1, flops = 0;
  for (auto training : module.getOps<plan::TrainingOp>())
    accumulate = training.getAccumulate();
  for (auto entry : module.getOps<plan::EntryOp>()) {
    if (entry.getSymName() == "micro_step")
      flops += accumulate * entry.getFlops();
    if (entry.getSymName() == "update" || entry.getSymName() == "begin_step")
      flops += entry.getFlops();
  }
  return flops;
}

std::string reportJson(ModuleOp module, double compileSeconds) {
  MemoryReport memory = memoryReport(module);
  llvm::json::Object json{
      {"parameters", parameterCount(module)},
      {"flops_per_step", flopsPerStep(module)},
      {"memory",
       llvm::json::Object{{"parameters", memory.parameters},
                          {"gradients", memory.gradients},
                          {"optimizer", memory.optimizer},
                          {"activations", memory.activations},
                          {"workspace", memory.workspace},
                          {"peak", memory.peak}}},
      {"collectives", llvm::json::Object{}},
      {"compile_seconds", compileSeconds},
  };
  return llvm::formatv("{0:2}\n", llvm::json::Value(std::move(json)));
}

} // namespace trainc
