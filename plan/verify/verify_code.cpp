#include "base/cpu_features.h"
#include "plan/facts/collective.h"
#include "plan/facts/dtype.h"
#include "plan/schema/cuda_levels.h"
#include "plan/verify/verify.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <iterator>
#include <set>
#include <vector>

namespace trainc::verify {

namespace {

/// Upper bounds for a kernel.
struct KernelLimits {
  uint64_t grid;
  uint32_t threads, sharedBytes;

  static KernelLimits of(const fb::Kernel &kernel, bool isForGpu) {
    if (isForGpu && !kernel.on_host())
      return {kCudaGrid, kCudaThreads, kCudaSharedBytes};
    return {uint64_t{1} << 40, 1024, 1 << 24};
  }
};

/// Checks the parameters that a parameter may alias.
Status aliases(const fb::Kernel &kernel, uint32_t index) {
  const auto &params = *kernel.params();
  const fb::Param &param = *params.Get(index);
  if (!param.may_alias())
    return {};
  int64_t last = -1;
  for (const uint32_t other : *param.may_alias()) {
    const bool fits = param.access() != fb::Access::Read && other < params.size() && other > last &&
                      params.Get(other)->access() == fb::Access::Read &&
                      params.Get(other)->bytes() == param.bytes();
    if (!fits)
      return invalidInput(
          "kernel {}, parameter {}, may_alias: expected of a parameter that is written others that "
          "are read, ascending, of its {} bytes, found {}",
          view(kernel.symbol()), index, param.bytes(), other);
    last = other;
  }
  return {};
}

/// Checks the parameters of a RankSum kernel: an input for each place, all of one type; then the sum, of that
/// type or f32; then the end of the sums.
bool addsWhatRanksSend(const fb::Kernel &kernel) {
  const auto &params = *kernel.params();
  if (params.size() < 4) // at least two ranks
    return false;
  const uint32_t places = params.size() - 2;
  const fb::DType dtype = params.Get(0)->dtype(), sum = params.Get(places)->dtype();
  const auto is = [&](uint32_t index, fb::Access access, fb::DType type, uint64_t bytes) {
    const fb::Param &param = *params.Get(index);
    return param.access() == access && param.dtype() == type && param.bytes() == bytes &&
           (!param.may_alias() || param.may_alias()->size() == 0);
  };
  for (uint32_t place = 0; place < places; ++place)
    if (!is(place, fb::Access::Read, dtype, elementBytes(dtype)))
      return false;
  return isSummed(dtype) && (sum == dtype || sum == fb::DType::F32) &&
         is(places, fb::Access::Write, sum, elementBytes(sum)) && is(places + 1, fb::Access::Read, sum, 0);
}

Status kernel(const fb::Kernel &kernel, bool isForGpu) {
  TRAINC_RETURN_IF_ERROR(name(view(kernel.symbol()), "a kernel"));
  const KernelLimits most = KernelLimits::of(kernel, isForGpu);
  if (kernel.on_host() && !isForGpu)
    return invalidInput("kernel {}: expected no kernel for the host in a plan for CPUs, found one",
                        view(kernel.symbol()));
  if (kernel.grid() == 0 || kernel.grid() > most.grid)
    return invalidInput("kernel {}: expected a grid of 1 to {} tiles, found {}", view(kernel.symbol()),
                        most.grid, kernel.grid());
  if (kernel.threads() == 0 || kernel.threads() > most.threads || kernel.shared_bytes() > most.sharedBytes)
    return invalidInput(
        "kernel {}: expected blocks of 1 to {} threads that share at most {} bytes, found {} and {}",
        view(kernel.symbol()), most.threads, most.sharedBytes, kernel.threads(), kernel.shared_bytes());
  if (kernel.kind() > fb::KernelKind::MAX)
    return invalidInput("kernel {}: unknown kind {}", view(kernel.symbol()), static_cast<int>(kernel.kind()));
  for (const fb::Param *param : *kernel.params())
    if (param->dtype() > fb::DType::MAX || param->access() > fb::Access::MAX)
      return invalidInput("kernel {}: a parameter of unknown dtype {} or access {}", view(kernel.symbol()),
                          static_cast<int>(param->dtype()), static_cast<int>(param->access()));
  for (uint32_t i = 0; i < kernel.params()->size(); ++i)
    TRAINC_RETURN_IF_ERROR(aliases(kernel, i));
  if (kernel.kind() == fb::KernelKind::RankSum && (kernel.on_host() || !addsWhatRanksSend(kernel)))
    return invalidInput(
        "kernel {}: expected of one of kind rank_sum an element of f32, bf16 or f16 that is read for each of "
        "several ranks, one of that type or f32 that is written, and an end of 0 bytes, found other "
        "parameters",
        view(kernel.symbol()));
  return {};
}

/// GPU plans also have CPU levels, for host kernels.
std::vector<std::string_view> levelsFor(const fb::Plan &plan) {
  std::vector<std::string_view> levels;
  if (isForCuda(plan))
    std::ranges::transform(kCudaLevels, std::back_inserter(levels), &CudaLevel::name);
  if (!isForCuda(plan) || std::ranges::any_of(*plan.kernels(), &fb::Kernel::on_host))
    levels.insert(levels.end(), kCpuLevels.begin(), kCpuLevels.end());
  return levels;
}

Status object(const fb::Object &object, const std::vector<std::string_view> &levels) {
  const std::string_view level = view(object.level());
  if (std::ranges::find(levels, level) == levels.end())
    return invalidInput("object level: expected one of {}, found another", fmt::join(levels, ", "));
  for (const auto *feature : *object.features())
    TRAINC_RETURN_IF_ERROR(name(view(feature), "a CPU feature"));
  if (object.image()->size() == 0)
    return invalidInput("object {}: expected machine code, found nothing", level);
  // The driver reads PTX up to its zero byte.
  if (const CudaLevel *ptx = findCudaLevel(level); ptx && ptx->isPtx && *object.image()->rbegin() != 0)
    return invalidInput("object {}: expected PTX with a zero byte at its end, found none", level);
  return {};
}

} // namespace

Status code(const fb::Plan &plan) {
  std::set<std::string_view> symbols, levels;
  const std::vector<std::string_view> known = levelsFor(plan);
  for (const fb::Kernel *each : *plan.kernels()) {
    TRAINC_RETURN_IF_ERROR(kernel(*each, isForCuda(plan)));
    if (!symbols.insert(view(each->symbol())).second)
      return invalidInput("kernel {}: expected it once, found it twice", view(each->symbol()));
  }
  for (const fb::Object *each : *plan.objects()) {
    TRAINC_RETURN_IF_ERROR(object(*each, known));
    if (!levels.insert(view(each->level())).second)
      return invalidInput("object {}: expected it once, found it twice", view(each->level()));
  }
  const bool isForGpu = isForCuda(plan);
  for (const fb::Kernel *each : *plan.kernels()) {
    const bool isOfGpu = isForGpu && !each->on_host();
    if (std::ranges::none_of(
            levels, [&](std::string_view level) { return (findCudaLevel(level) != nullptr) == isOfGpu; }))
      return invalidInput("kernel {}: expected machine code for {}, found no object", view(each->symbol()),
                          isOfGpu ? "GPUs" : "CPUs");
  }
  return {};
}

} // namespace trainc::verify
