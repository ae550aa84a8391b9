#include "base/cpu_features.h"
#include "base/nearest_word.h"
#include "base/plain_text.h"
#include "plan/facts/collective.h"
#include "plan/facts/dtype.h"
#include "plan/verify/verify.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

namespace trainc::verify {

namespace {

/// Returns the target whose code executes the kernel: the plan's, or the default one on the host's cores.
const TargetTraits &executorOf(const fb::Kernel &kernel, const TargetTraits &target) {
  return kernel.on_host() ? kDefaultTarget : target;
}

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

Status kernel(const fb::Kernel &kernel, const TargetTraits &target) {
  TRAINC_RETURN_IF_ERROR(name(view(kernel.symbol()), "a kernel"));
  const KernelLimits &limits = executorOf(kernel, target).kernels;
  if (kernel.on_host() && target.isHost)
    return invalidInput("kernel {}: expected no kernel for the host in a plan for {}, found one",
                        view(kernel.symbol()), target.processors);
  if (kernel.grid() == 0 || kernel.grid() > limits.maxGrid)
    return invalidInput("kernel {}: expected a grid of 1 to {} tiles, found {}", view(kernel.symbol()),
                        limits.maxGrid, kernel.grid());
  if (kernel.threads() == 0 || kernel.threads() > limits.maxThreads ||
      kernel.shared_bytes() > limits.maxBlockBytes)
    return invalidInput(
        "kernel {}: expected blocks of 1 to {} threads that share at most {} bytes, found {} and {}",
        view(kernel.symbol()), limits.maxThreads, limits.maxBlockBytes, kernel.threads(),
        kernel.shared_bytes());
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

/// Returns the levels of the target and, if the plan has kernels for the host, those of the host.
std::vector<CodeLevel> levelsFor(const fb::Plan &plan) {
  const TargetTraits &target = targetOf(plan);
  std::vector<CodeLevel> levels(target.code.begin(), target.code.end());
  if (!target.isHost && std::ranges::any_of(*plan.kernels(), &fb::Kernel::on_host))
    levels.insert(levels.end(), kCpuCode.begin(), kCpuCode.end());
  return levels;
}

Status object(const fb::Object &object, const std::vector<CodeLevel> &levels) {
  const std::string_view name = view(object.level());
  const auto level = std::ranges::find(levels, name, &CodeLevel::name);
  if (level == levels.end()) {
    std::vector<std::string> names;
    std::ranges::transform(levels, std::back_inserter(names),
                           [](const CodeLevel &each) { return std::string(each.name); });
    return invalidInput("object level: {}", describeUnknownWord(printable(name), names));
  }
  for (const auto *feature : *object.features())
    TRAINC_RETURN_IF_ERROR(verify::name(view(feature), "a CPU feature"));
  if (object.image()->size() == 0)
    return invalidInput("object {}: expected machine code, found nothing", name);
  // Drivers read texts up to their zero byte.
  if (!level->text.empty() && *object.image()->rbegin() != 0)
    return invalidInput("object {}: expected {} with a zero byte at its end, found none", name, level->text);
  return {};
}

} // namespace

Status code(const fb::Plan &plan) {
  std::set<std::string_view> symbols, levels;
  const std::vector<CodeLevel> known = levelsFor(plan);
  const TargetTraits &target = targetOf(plan);
  for (const fb::Kernel *each : *plan.kernels()) {
    TRAINC_RETURN_IF_ERROR(kernel(*each, target));
    if (!symbols.insert(view(each->symbol())).second)
      return invalidInput("kernel {}: expected it once, found it twice", view(each->symbol()));
  }
  for (const fb::Object *each : *plan.objects()) {
    TRAINC_RETURN_IF_ERROR(object(*each, known));
    if (!levels.insert(view(each->level())).second)
      return invalidInput("object {}: expected it once, found it twice", view(each->level()));
  }
  for (const fb::Kernel *each : *plan.kernels()) {
    const TargetTraits &executor = executorOf(*each, target);
    const auto isHeld = [&](const CodeLevel &level) { return levels.contains(level.name); };
    if (std::ranges::none_of(executor.code, isHeld))
      return invalidInput("kernel {}: expected machine code for {}, found no object", view(each->symbol()),
                          executor.processors);
  }
  return {};
}

} // namespace trainc::verify
