#include "runtime/device/cpu/kernel_library.h"

#include "base/cpu_features.h"
#include "plan/facts/target.h"

#include <algorithm>

namespace trainc {

namespace {

using Objects = std::vector<const fb::Object *>;

/// The plan's objects for CPUs or, if not `isForCpu`, the host objects of a GPU plan.
Objects objectsOf(const fb::Plan &plan, bool isForCpu) {
  Objects objects;
  for (const fb::Object *object : *plan.objects())
    if (isForCpu || std::ranges::find(kCpuLevels, object->level()->string_view()) != std::end(kCpuLevels))
      objects.push_back(object);
  return objects;
}

/// Explains why no object of the plan runs here, and what to do.
Status refuse(const Objects &objects, const std::vector<std::string> &refusals, bool isForCpu) {
  const std::string_view here = levelOfThisCpu();
  if (!isForCpu)
    return invalidInput(
        "the plan holds kernels of the host for {}; use another CPU, or compile the model with "
        "--offload-update=device",
        fmt::join(refusals, "; "));
  // Objects that need AMX without a level ending in "-amx" use it for f32 products split into bf16.
  const bool splitsProducts = std::ranges::all_of(objects, [&](const fb::Object *object) {
    return !object->level()->string_view().ends_with("-amx") &&
           std::ranges::any_of(*object->features(),
                               [](const auto *name) { return name->string_view().starts_with("amx"); });
  });
  if (here.empty())
    return invalidInput(
        "the plan holds kernels for {}; this CPU has no level that trainc compiles for, which "
        "are x86-64-v3 and x86-64-v4: use another CPU",
        fmt::join(refusals, "; "));
  if (splitsProducts)
    return invalidInput("the plan holds kernels for {}; this CPU is an {} without these: compile the model "
                        "with --fp32-products=fma, or use a CPU with them",
                        fmt::join(refusals, "; "), here);
  return invalidInput("the plan holds kernels for {}; this CPU is an {}: compile the model with --cpu={}, or "
                      "with --cpu=all for every CPU",
                      fmt::join(refusals, "; "), here, here);
}

/// Features whose bf16 products give other bits than those of the other levels.
constexpr std::string_view kOwnArithmetic[] = {"avx512_bf16", "amx_bf16"};

/// Whether the first object is faster on this CPU.
bool isBetter(const fb::Object &one, const fb::Object &other) {
  return speedRank(one.level()->string_view()) > speedRank(other.level()->string_view());
}

/// The object of the fastest level whose features are all present.
Result<const fb::Object *> chooseObject(const Objects &objects, bool isForCpu) {
  const fb::Object *best = nullptr;
  std::vector<std::string> refusals;
  for (const fb::Object *object : objects) {
    std::vector<std::string_view> features;
    for (const auto *feature : *object->features())
      features.emplace_back(feature->c_str());
    const auto missing = missingFeatures(object->level()->c_str(), features);
    if (!missing.empty())
      refusals.push_back(fmt::format("{} (missing: {})", object->level()->c_str(), fmt::join(missing, ", ")));
    else if (!best || isBetter(*object, *best))
      best = object;
  }
  if (!best)
    return refuse(objects, refusals, isForCpu);
  return best;
}

} // namespace

Result<KernelLibrary> KernelLibrary::load(const fb::Plan &plan) {
  KernelLibrary library;
  library.plan_ = &plan;
  const bool isForCpu = targetOf(plan).isHost;
  const auto isOfCpu = [&](const fb::Kernel *kernel) { return isForCpu || kernel->on_host(); };
  library.functions_.resize(plan.kernels()->size());
  if (std::ranges::none_of(*plan.kernels(), isOfCpu))
    return library;
  TRAINC_ASSIGN_OR_RETURN(const fb::Object *object, chooseObject(objectsOf(plan, isForCpu), isForCpu));
  library.level_ = object->level()->str();
  for (const auto *feature : *object->features())
    if (std::ranges::find(kOwnArithmetic, feature->string_view()) != std::end(kOwnArithmetic))
      library.arithmetic_ = feature->str();
  const std::span<const uint8_t> code(object->image()->data(), object->image()->size());
  Result<KernelImage> image = KernelImage::load(std::as_bytes(code));
  if (!image.ok())
    return Status(image.status().code(), fmt::format("cannot load the plan's kernels for {}: {}",
                                                     library.level_, image.status().message()));
  library.image_ = std::move(*image);
  for (uint32_t i = 0; i < plan.kernels()->size(); ++i) {
    const fb::Kernel *kernel = plan.kernels()->Get(i);
    if (!isOfCpu(kernel))
      continue;
    library.functions_[i] = library.image_.find(kernel->symbol()->str());
    if (!library.holds(i))
      return invalidInput("the plan's code for {} lacks kernel {}; compile the model again", library.level_,
                          kernel->symbol()->c_str());
  }
  return library;
}

} // namespace trainc
