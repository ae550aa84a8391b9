#include "runtime/exec/step_facts.h"

#include "runtime/plan/dtype.h"
#include "runtime/plan/library_calls.h"
#include "runtime/plan/view.h"
#include "runtime/schema/cuda_levels.h"

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

bool isHalf(fb::DType type) { return type == fb::DType::BF16 || type == fb::DType::F16; }

double launchBytes(const fb::Kernel &kernel) {
  double bytes = 0;
  for (const fb::Param *param : *kernel.params())
    bytes += static_cast<double>(param->bytes()) * (param->access() == fb::Access::ReadWrite ? 2 : 1);
  return bytes;
}

void describeKernel(const fb::Kernel &kernel, StepFacts &facts) {
  facts.kind = kindOf(kernel);
  facts.what = view(kernel.symbol());
  facts.flops = static_cast<double>(kernel.flops());
  facts.bytes = launchBytes(kernel);
  // Products read their factors first; generated ones of f32 numbers round none to TF32.
  const auto &params = *kernel.params();
  if (params.size() > 0 && isHalf(params.Get(0)->dtype()))
    facts.flopsRate = &DeviceRates::halfFlops;
}

/// The workspace is the library's matter.
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

std::optional<double> StepFacts::leastSeconds(const DeviceRates &rates) const {
  const double bytesRate = rates.bytesPerSecond(), mathRate = rates.*flopsRate;
  if (bytesRate <= 0 || (flops > 0 && mathRate <= 0) || kind == ProfileKind::Communication)
    return std::nullopt;
  return std::max(bytes / bytesRate, flops > 0 ? flops / mathRate : 0);
}

StepFacts factsOf(const fb::Plan &plan, const Step &step) {
  StepFacts facts;
  facts.source = sourceText(*plan.sources()->Get(step.instruction->source()));
  if (const auto *launch = std::get_if<LaunchStep>(&step.operation)) {
    describeKernel(*plan.kernels()->Get(launch->kernel), facts);
  } else if (std::holds_alternative<LibraryStep>(step.operation)) {
    describeCall(*step.instruction, facts);
  } else if (const auto *copy = std::get_if<CopyStep>(&step.operation)) {
    facts.what = "copy";
    facts.bytes = 2.0 * static_cast<double>(copy->bytes);
  } else if (const auto *zero = std::get_if<ZeroStep>(&step.operation)) {
    facts.what = "zero";
    facts.bytes = static_cast<double>(zero->bytes);
  } else {
    const char *start = view(plan.target()) == kCudaTarget ? "" : "start ";
    facts.kind = ProfileKind::Communication;
    facts.what = fmt::format("{}{}", start, collectiveName(std::get<CollectiveStep>(step.operation).kind));
  }
  return facts;
}

std::string waitName(const Step &collective) {
  return fmt::format("wait for {}", collectiveName(std::get<CollectiveStep>(collective.operation).kind));
}

} // namespace trainc
