#include "plan/facts/gpu_needs.h"

#include "base/refusals.h"
#include "plan/facts/library_calls.h"
#include "plan/facts/settings.h"
#include "plan/schema/cuda_levels.h"
#include "plan/schema/cudnn_attention.h"
#include "plan/settings/settings.h"

namespace trainc {

namespace {

/// Advice on compiling the model so that kernels compute the gradient of attention instead of cuDNN.
std::string adviceOnGradient(const fb::Plan &plan) {
  const PlanSettings settings(plan);
  const std::optional<train::LibraryOps> calls = train::kLibraryCalls.given(settings);
  const std::string withoutGpu = "without --gpu, or with --gpu=a100";
  if (calls == train::LibraryOps::attention || calls == train::LibraryOps::all)
    return fmt::format("without {}={}{}", train::kLibraryCalls.option(), train::kLibraryCalls.wordFor(*calls),
                       train::kGpu.isSet(settings) ? " and " + withoutGpu : "");
  return withoutGpu;
}

} // namespace

std::string neededGpu(const fb::Plan &plan) {
  if (hasLibraryGradient(plan))
    return fmt::format("compute capability {} (gradient of attention by cuDNN)", kCudnnGradientGpus);
  if (multipliesF8(plan))
    return fmt::format("compute capability {}.{} or higher (products of fp8)", kF8Major, kF8Minor);
  return fmt::format("compute capability {}.0 or higher", kMinCudaMajor);
}

Status checkGpuCapability(const fb::Plan &plan, int major, int minor, std::string_view gpu) {
  Refusals refusals;
  if (multipliesF8(plan) && !hasF8Products(major, minor))
    TRAINC_RETURN_IF_ERROR(refusals.keep(invalidInput(
        "the plan multiplies fp8 numbers: expected a GPU of compute capability {}.{} or higher (RTX 40, "
        "L40S, H100 or newer), found {} of {}.{}; compile the model without --product-type=fp8, or use "
        "another GPU",
        kF8Major, kF8Minor, gpu, major, minor)));
  if (hasLibraryGradient(plan) && !hasCudnnGradient(major))
    TRAINC_RETURN_IF_ERROR(refusals.keep(invalidInput(
        "the plan leaves the gradient of attention to cuDNN: expected a GPU of compute capability {} (H100, "
        "H200, B200), on which that repeats its bits, found {} of {}.{}; compile the model {}, which leaves "
        "it to kernels of the plan, or use another GPU",
        kCudnnGradientGpus, gpu, major, minor, adviceOnGradient(plan))));
  return refusals.all();
}

} // namespace trainc
