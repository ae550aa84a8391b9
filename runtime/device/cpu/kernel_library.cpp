#include "runtime/device/cpu/kernel_library.h"

#include "runtime/device/cpu/cpu_features.h"

namespace trainc {

namespace {

/// The object to run: the highest level whose features are all present.
Result<const fb::Object *> chooseObject(const fb::Plan &plan) {
  const fb::Object *best = nullptr;
  std::vector<std::string> refusals;
  for (const fb::Object *object : *plan.objects()) {
    std::vector<std::string_view> features;
    for (const auto *feature : *object->features())
      features.emplace_back(feature->c_str());
    const auto missing = missingFeatures(object->level()->c_str(), features);
    if (!missing.empty())
      refusals.push_back(fmt::format("{} (missing: {})", object->level()->c_str(), fmt::join(missing, ", ")));
    else if (!best || object->level()->str() > best->level()->str())
      best = object;
  }
  if (!best)
    return invalidInput(
        "this CPU cannot run the plan's kernels: it has code for {}; use a CPU with these features",
        fmt::join(refusals, "; "));
  return best;
}

} // namespace

Result<KernelLibrary> KernelLibrary::load(const fb::Plan &plan) {
  KernelLibrary library;
  library.plan_ = &plan;
  if (plan.kernels()->size() == 0)
    return library;
  TRAINC_ASSIGN_OR_RETURN(const fb::Object *object, chooseObject(plan));
  library.level_ = object->level()->str();
  const std::span<const uint8_t> code(object->image()->data(), object->image()->size());
  Result<KernelImage> image = KernelImage::load(std::as_bytes(code));
  if (!image.ok())
    return Status(image.status().code(), fmt::format("cannot load the plan's kernels for {}: {}",
                                                     library.level_, image.status().message()));
  library.image_ = std::move(*image);
  for (const fb::Kernel *kernel : *plan.kernels()) {
    const KernelFunction function = library.image_.find(kernel->symbol()->str());
    if (!function)
      return invalidInput("the plan's code for {} lacks kernel {}; compile the model again", library.level_,
                          kernel->symbol()->c_str());
    library.functions_.push_back(function);
  }
  return library;
}

} // namespace trainc
