#include "runtime/device/cuda/cuda_kernels.h"

#include "plan/facts/gpu_needs.h"
#include "plan/facts/target.h"
#include "plan/facts/view.h"
#include "plan/schema/cuda_levels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <fmt/ranges.h>
#include <string_view>

namespace trainc {

namespace {

using Objects = std::vector<const fb::Object *>;

/// Objects that the GPU can run, best first: machine code of its generation with at most its features; then
/// PTX.
Objects candidates(const fb::Plan &plan, const CudaContext &context) {
  Objects objects;
  for (const fb::Object *object : *plan.objects()) {
    const CudaLevel *level = findCudaLevel(view(object->level()));
    if (!level) // a host object
      continue;
    const bool runs =
        level->isPtx ? std::pair(level->major, level->minor) <= std::pair(context.major(), context.minor())
                     : level->major == context.major() && level->minor <= context.minor();
    if (runs)
      objects.push_back(object);
  }
  std::ranges::sort(objects, [](const fb::Object *one, const fb::Object *other) {
    const CudaLevel &a = *findCudaLevel(view(one->level())), &b = *findCudaLevel(view(other->level()));
    return a.isPtx != b.isPtx ? b.isPtx : std::pair(a.major, a.minor) > std::pair(b.major, b.minor);
  });
  return objects;
}

/// Loads the module of one object; `log` receives the output of the driver's compiler.
CUresult tryObject(const fb::Object &object, CUmodule &module, std::array<char, 4096> &log) {
  std::array options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void *, 2> values{log.data(), std::bit_cast<void *>(log.size())};
  return driver().cuModuleLoadDataEx.raw(&module, object.image()->data(), options.size(), options.data(),
                                         values.data());
}

Status noRoomFor(const fb::Object &object, const CudaContext &context) {
  TRAINC_ASSIGN_OR_RETURN(const CudaMemory memory, context.memory());
  return failed("expected room for the plan's code for {} on GPU {} ({}), found {} bytes free of {}; end "
                "what else uses the GPU (nvidia-smi), or compile with a smaller --memory-limit",
                view(object.level()), context.index(), context.name(), memory.free, memory.total);
}

std::string levelNames(const fb::Plan &plan) {
  std::vector<std::string_view> names;
  for (const fb::Object *object : *plan.objects())
    if (findCudaLevel(view(object->level())))
      names.push_back(view(object->level()));
  return fmt::format("{}", fmt::join(names, ", "));
}

/// A launch passes one address per parameter of the plan; the driver reads as many as the code declares, with
/// the declared sizes. Both must agree.
Status checkParameters(const fb::Kernel &kernel, CUfunction function) {
  const size_t expected = kernel.params()->size();
  for (size_t index = 0;; ++index) {
    size_t offset = 0, bytes = 0;
    const CUresult code = driver().cuFuncGetParamInfo.raw(function, index, &offset, &bytes);
    if (code == CUDA_ERROR_INVALID_VALUE) { // no more parameters
      if (index == expected)
        return {};
      return invalidInput("kernel {}: expected code with the plan's {} parameters, found {}; compile the "
                          "model again",
                          view(kernel.symbol()), expected, index);
    }
    TRAINC_RETURN_IF_ERROR(driver().cuFuncGetParamInfo.status(code));
    if (bytes != sizeof(CUdeviceptr))
      return invalidInput("kernel {}: expected code whose parameters are addresses of {} bytes, found "
                          "parameter {} of {}; compile the model again",
                          view(kernel.symbol()), sizeof(CUdeviceptr), index, bytes);
  }
}

/// Checks the loaded kernel against the plan and the GPU. The driver does not report a fixed block size
/// (`.reqntid`); a launch with another size fails later, naming the source op.
Status checkKernel(const fb::Kernel &kernel, CUfunction function, uint32_t dynamicSharedBytes,
                   const CudaContext &context) {
  TRAINC_RETURN_IF_ERROR(checkParameters(kernel, function));
  int threads = 0, shared = 0;
  TRAINC_RETURN_IF_ERROR(
      driver().cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
  TRAINC_RETURN_IF_ERROR(driver().cuFuncGetAttribute(&shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function));
  if (kernel.threads() > static_cast<uint32_t>(threads))
    return invalidInput(
        "kernel {}: expected blocks of {} threads, found registers for {} on GPU {} ({}); compile the model "
        "again",
        view(kernel.symbol()), kernel.threads(), threads, context.index(), context.name());
  if (static_cast<uint32_t>(shared) + dynamicSharedBytes > context.sharedBytes())
    return invalidInput(
        "kernel {}: expected shared memory of at most the {} bytes that GPU {} ({}) has for a block, found "
        "{}; use a GPU with more, or compile the model for this one",
        view(kernel.symbol()), context.sharedBytes(), context.index(), context.name(),
        static_cast<uint32_t>(shared) + dynamicSharedBytes);
  return {};
}

} // namespace

Status CudaKernels::loadModule(const fb::Plan &plan, const CudaContext &context) {
  for (const fb::Object *object : candidates(plan, context)) {
    std::array<char, 4096> log{};
    CUmodule module = nullptr;
    const CUresult code = tryObject(*object, module, log);
    if (code == CUDA_ERROR_NO_BINARY_FOR_GPU)
      continue;
    if (code == CUDA_ERROR_OUT_OF_MEMORY)
      return noRoomFor(*object, context);
    const Status status = driver().cuModuleLoadDataEx.status(code);
    if (!status.ok())
      return invalidInput(
          "the plan's code for {}: {}{}{}; compile the model again, or install a newer driver",
          view(object->level()), status.message(), log[0] ? ": " : "", log.data());
    module_ = CudaHandle<CUmodule, Unload>(module);
    level_ = view(object->level());
    return {};
  }
  return invalidInput("the plan holds code for {}, and GPU {} ({}) is of compute capability {}.{}; compile "
                      "the model again with --target=cuda, or use another GPU",
                      levelNames(plan), context.index(), context.name(), context.major(), context.minor());
}

Result<CudaKernels> CudaKernels::load(const fb::Plan &plan, const CudaContext &context) {
  if (!targetOf(plan).hasComputeCapability)
    return invalidInput("plan '{}' is for {}, and this is a GPU; run it with --device={}, or compile the "
                        "model with --target=cuda",
                        view(plan.name()), view(plan.target()), view(plan.target()));
  TRAINC_RETURN_IF_ERROR(checkGpuCapability(plan, context.major(), context.minor(),
                                            fmt::format("GPU {} ({})", context.index(), context.name())));
  CudaKernels kernels;
  if (std::ranges::all_of(*plan.kernels(), &fb::Kernel::on_host))
    return kernels;
  TRAINC_RETURN_IF_ERROR(kernels.loadModule(plan, context));
  for (const fb::Kernel *kernel : *plan.kernels()) {
    if (kernel->on_host()) {
      kernels.kernels_.emplace_back();
      continue;
    }
    CudaKernel loaded{nullptr, static_cast<uint32_t>(kernel->grid()), kernel->threads(),
                      kernel->shared_bytes() > kCudaStaticSharedBytes ? kernel->shared_bytes() : 0};
    const CUresult code =
        driver().cuModuleGetFunction.raw(&loaded.function, kernels.module_.get(), kernel->symbol()->c_str());
    if (code == CUDA_ERROR_NOT_FOUND)
      return invalidInput("the plan's code for {} lacks kernel {}; compile the model again", kernels.level_,
                          view(kernel->symbol()));
    TRAINC_RETURN_IF_ERROR(driver().cuModuleGetFunction.status(code));
    TRAINC_RETURN_IF_ERROR(checkKernel(*kernel, loaded.function, loaded.dynamicSharedBytes, context));
    if (loaded.dynamicSharedBytes > 0)
      TRAINC_RETURN_IF_ERROR(driver().cuFuncSetAttribute(loaded.function,
                                                         CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                         static_cast<int>(loaded.dynamicSharedBytes)));
    // Loaded now; otherwise the first launch would, and its memory would count as the libraries'.
    TRAINC_RETURN_IF_ERROR(driver().cuFuncLoad(loaded.function));
    kernels.kernels_.push_back(loaded);
  }
  return kernels;
}

Status CudaKernels::launch(uint32_t index, std::span<const DeviceAddress> args, CUstream stream) const {
  const CudaKernel &kernel = kernels_[index];
  std::vector<CUdeviceptr> values;
  for (const DeviceAddress address : args)
    values.push_back(address.value());
  std::vector<void *> pointers;
  for (CUdeviceptr &value : values)
    pointers.push_back(&value);
  return driver().cuLaunchKernel(kernel.function, kernel.blocks, 1, 1, kernel.threads, 1, 1,
                                 kernel.dynamicSharedBytes, stream, pointers.data(), nullptr);
}

} // namespace trainc
