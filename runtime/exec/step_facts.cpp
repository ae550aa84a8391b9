#include "runtime/exec/step_facts.h"

#include "plan/facts/dtype.h"
#include "plan/facts/library_calls.h"
#include "plan/facts/view.h"
#include "plan/facts/work.h"
#include "plan/schema/enum_words.h"

#include <algorithm>
#include <limits>

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

bool isHalf(fb::DType type) { return type == fb::DType::BF16 || type == fb::DType::F16; }

/// A copy's parameters are whole tensors, of which it touches a part: the size of the smallest.
double launchBytes(const fb::Kernel &kernel) {
  double all = 0, least = std::numeric_limits<double>::infinity();
  for (const fb::Param *param : *kernel.params()) {
    const auto bytes = static_cast<double>(param->bytes());
    all += bytes * (param->access() == fb::Access::ReadWrite ? 2 : 1);
    least = std::min(least, bytes);
  }
  return kernel.kind() == fb::KernelKind::Copy && all > 0 ? 2 * least : all;
}

void describeKernel(const fb::Kernel &kernel, StepFacts &facts) {
  facts.kind = kindOf(kernel);
  facts.flops = static_cast<double>(kernel.flops());
  facts.bytes = launchBytes(kernel);
  facts.isBoundByRates = !kernel.on_host();
  // The factors are a product's first parameters. Generated products of f32 do not round to TF32.
  const auto &params = *kernel.params();
  if (params.size() > 0 && isHalf(params.Get(0)->dtype()))
    facts.flopsRate = &DeviceRates::halfFlops;
}

/// Excludes the workspace, whose use is internal to the library.
double libraryBytes(const fb::Instruction &call) {
  double bytes = 0;
  for (const LibraryOperand &each : libraryOperands(call))
    if (each.operand && !each.anyType)
      bytes += static_cast<double>(each.bytes.rowBytes * each.bytes.rows * each.bytes.matrices) *
               (each.reads && each.writes ? 2 : 1);
  return bytes;
}

void describeCall(const fb::Instruction &call, StepFacts &facts) {
  const fb::MatrixProduct *product = call.operation_as_MatrixProduct();
  facts.kind = product ? ProfileKind::Gemm : ProfileKind::Attention;
  facts.what = libraryCallName(call);
  facts.flops = libraryFlops(call);
  facts.bytes = libraryBytes(call);
  if (product && isF8(product->factors()))
    facts.flopsRate = &DeviceRates::f8Flops;
  else if (isHalf(product ? product->factors() : call.operation_as_Attention()->values()))
    facts.flopsRate = &DeviceRates::halfFlops;
  else if (product && product->tf32())
    facts.flopsRate = &DeviceRates::tf32Flops;
}

fb::Space spaceOf(const fb::Plan &plan, const fb::Operand &operand) {
  return plan.arenas()->Get(plan.buffers()->Get(operand.buffer())->arena())->space();
}

void describeCopy(const fb::Plan &plan, const fb::Copy &copy, StepFacts &facts) {
  const fb::Space from = spaceOf(plan, *copy.source()), to = spaceOf(plan, *copy.destination());
  facts.isBoundByRates = from == to;
  facts.what = from == to ? "copy" : fmt::format("copy from {} to {}", wordOf(from), wordOf(to));
  facts.bytes = (from == to ? 2.0 : 1.0) * static_cast<double>(copy.bytes());
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
  if (const auto *launch = std::get_if<LaunchStep>(&step.operation)) {
    describeKernel(*plan.kernels()->Get(launch->kernel), facts);
    facts.what = describeInstruction(plan, *step.instruction);
  } else if (std::holds_alternative<LibraryStep>(step.operation)) {
    describeCall(*step.instruction, facts);
  } else if (std::holds_alternative<CopyStep>(step.operation)) {
    describeCopy(plan, *step.instruction->operation_as_Copy(), facts);
  } else if (const auto *zero = std::get_if<ZeroStep>(&step.operation)) {
    facts.what = "zero";
    facts.bytes = static_cast<double>(zero->bytes);
  } else {
    describeCollective(std::get<CollectiveStep>(step.operation).kind, facts);
  }
  return facts;
}

std::string waitName(const Step &waitedFor) {
  const auto *collective = std::get_if<CollectiveStep>(&waitedFor.operation);
  return fmt::format("wait for {}", collective ? collectiveName(collective->kind) : "the disk");
}

} // namespace trainc
