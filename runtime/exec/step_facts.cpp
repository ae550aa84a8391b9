#include "runtime/exec/step_facts.h"

#include "plan/facts/library_calls.h"
#include "plan/facts/uses.h"
#include "plan/facts/view.h"
#include "plan/facts/work.h"
#include "plan/schema/enum_words.h"

#include <algorithm>

namespace trainc {

namespace {

ProfileKind kindOf(const fb::Kernel &kernel) {
  switch (kernel.kind()) {
  case fb::KernelKind::Gemm:
    return ProfileKind::Gemm;
  case fb::KernelKind::Attention:
    return ProfileKind::Attention;
  case fb::KernelKind::Copy:
    return ProfileKind::Move;
  case fb::KernelKind::Rows:
  case fb::KernelKind::Scatter:
  case fb::KernelKind::RankSum: // part of a collective
    break;
  }
  return ProfileKind::Kernel;
}

/// The device's rate for products whose factors have this type. Generated f32 products do not round to TF32.
double DeviceRates::*rateOf(Factor factor) {
  switch (factor) {
  case Factor::Bf16:
  case Factor::F16:
    return &DeviceRates::halfFlops;
  case Factor::Byte:
    return &DeviceRates::f8Flops;
  case Factor::Tf32:
    return &DeviceRates::tf32Flops;
  case Factor::Full:
    break;
  }
  return &DeviceRates::f32Flops;
}

void describeWork(const Work &work, StepFacts &facts) {
  facts.flops = work.flops;
  facts.bytes = work.bytes;
  facts.flopsRate = rateOf(work.factor);
}

ProfileKind kindOf(const fb::Plan &plan, const fb::Instruction &instruction) {
  if (const fb::Launch *launch = instruction.operation_as_Launch())
    return kindOf(*plan.kernels()->Get(launch->kernel()));
  if (instruction.operation_as_MatrixProduct())
    return ProfileKind::Gemm;
  return isLibraryCall(instruction) ? ProfileKind::Attention : ProfileKind::Move;
}

/// Whether the device's rates bound the time. They do not if bytes move between memory spaces, or if a kernel
/// runs on the host's cores.
bool isBoundByRates(const fb::Plan &plan, const fb::Instruction &instruction) {
  if (const fb::Launch *launch = instruction.operation_as_Launch())
    return !plan.kernels()->Get(launch->kernel())->on_host();
  const fb::Copy *copy = instruction.operation_as_Copy();
  return !copy || facts::spaceOf(plan, *copy->source()) == facts::spaceOf(plan, *copy->destination());
}

/// Describes an instruction without sizes, which have columns of their own. A kernel has its own name.
std::string nameOf(const fb::Plan &plan, const fb::Instruction &instruction) {
  const fb::Copy *copy = instruction.operation_as_Copy();
  if (isLibraryCall(instruction))
    return libraryCallName(instruction);
  if (!copy)
    return describeInstruction(plan, instruction);
  const fb::Space from = facts::spaceOf(plan, *copy->source()),
                  to = facts::spaceOf(plan, *copy->destination());
  return from == to ? "copy" : fmt::format("copy from {} to {}", wordOf(from), wordOf(to));
}

void describeCollective(MeetingKind kind, StepFacts &facts) {
  facts.kind = ProfileKind::Communication;
  facts.what = collectiveName(kind);
  facts.isBoundByRates = false;
}

} // namespace

const char *profileKindName(ProfileKind kind) {
  switch (kind) {
  case ProfileKind::Gemm:
    return "products";
  case ProfileKind::Attention:
    return "attention";
  case ProfileKind::Kernel:
    return "kernels";
  case ProfileKind::Move:
    return "moves";
  case ProfileKind::Communication:
    break;
  }
  return "communication";
}

std::optional<double> StepFacts::minSeconds(const DeviceRates &rates) const {
  const double bytesRate = rates.bytesPerSecond(), mathRate = rates.*flopsRate;
  if (bytesRate <= 0 || (flops > 0 && mathRate <= 0) || !isBoundByRates)
    return std::nullopt;
  return std::max(bytes / bytesRate, flops > 0 ? flops / mathRate : 0);
}

StepFacts factsOf(const fb::Plan &plan, const Step &step) {
  StepFacts facts;
  facts.source = sourceText(*plan.sources()->Get(step.instruction->source()));
  facts.predictedSeconds = step.instruction->predicted_seconds();
  const fb::Instruction &instruction = *step.instruction;
  if (const auto *collective = std::get_if<CollectiveStep>(&step.operation)) {
    describeCollective(collective->kind, facts);
    return facts;
  }
  facts.kind = kindOf(plan, instruction);
  facts.what = nameOf(plan, instruction);
  facts.isBoundByRates = isBoundByRates(plan, instruction);
  describeWork(*workOf(plan, instruction), facts);
  if (instruction.operation_as_Launch() || isLibraryCall(instruction))
    facts.bytes = compulsoryBytes(plan, instruction); // minSeconds() is a lower bound
  return facts;
}

std::string waitName(const Step &waitedFor) {
  const auto *collective = std::get_if<CollectiveStep>(&waitedFor.operation);
  return fmt::format("wait for {}", collective ? collectiveName(collective->kind) : "the disk");
}

} // namespace trainc
