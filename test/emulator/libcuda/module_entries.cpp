// Modules of PTX, and their functions.
#include "test/emulator/libcuda/entry.h"

#include <charconv>
#include <cstring>

namespace trainc::emulator {

namespace {

/// Granularity of a module's device memory.
constexpr uint64_t kModuleBytes = uint64_t{64} << 10;

/// Emulated options: the buffer of the error log. Others are ignored.
struct JitOptions {
  char *log = nullptr;
  void **logBytes = nullptr; ///< in: size of `log`; out: bytes written
};

JitOptions readOptions(unsigned count, const CUjit_option *options, void **values) {
  JitOptions read;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
      read.log = static_cast<char *>(values[i]);
    else if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
      read.logBytes = &values[i];
  }
  return read;
}

void writeLog(const JitOptions &options, const std::string &text) {
  const auto room = options.logBytes ? reinterpret_cast<size_t>(*options.logBytes) : 0;
  if (!options.log || room == 0)
    return;
  const size_t written = text.copy(options.log, room - 1);
  options.log[written] = '\0';
  *options.logBytes = reinterpret_cast<void *>(written);
}

/// Whether an image is machine code: ELF (a cubin), or a fat binary.
bool isBinary(const char *image) {
  constexpr unsigned char kFat[4] = {0x50, 0xed, 0x55, 0xba};
  return std::memcmp(image, "\177ELF", 4) == 0 || std::memcmp(image, kFat, 4) == 0;
}

/// 90 for `.target sm_90a`; 0 if there is none.
int targetOf(std::string_view ptx) {
  constexpr std::string_view kTarget = ".target sm_";
  int target = 0;
  if (const size_t at = ptx.find(kTarget); at != std::string_view::npos)
    std::from_chars(ptx.data() + at + kTarget.size(), ptx.data() + ptx.size(), target);
  return target;
}

std::optional<int> functionAttribute(const Function &function, const Settings &settings,
                                     CUfunction_attribute attribute) {
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    return function.ptx->maxThreads;
  case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    return function.ptx->sharedBytes;
  case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    return 0;
  case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
    return function.ptx->localBytes;
  case CU_FUNC_ATTRIBUTE_NUM_REGS:
    return std::min<uint32_t>(function.ptx->registers, 255);
  case CU_FUNC_ATTRIBUTE_PTX_VERSION:
  case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
    return settings.major * 10 + settings.minor;
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    return function.dynamicLimit;
  default:
    return std::nullopt;
  }
}

} // namespace

} // namespace trainc::emulator

using namespace trainc::emulator;

extern "C" {

CUresult CUDAAPI cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int optionCount,
                                    CUjit_option *options, void **values) {
  return entry("cuModuleLoadDataEx", [&](Call &call) {
    TRAINC_CU(call.needContext());
    TRAINC_CU(call.needNoCapture());
    if (!module || !image || (optionCount > 0 && (!options || !values)))
      return call.refuse(CUDA_ERROR_INVALID_VALUE, "module {}, image {}, options {}", fmt::ptr(module), image,
                         fmt::ptr(options));
    const auto *text = static_cast<const char *>(image);
    if (isBinary(text)) // not reported on stderr: the caller may continue with PTX
      return CUDA_ERROR_NO_BINARY_FOR_GPU;
    const JitOptions jit = readOptions(optionCount, options, values);
    const Settings &settings = call.driver.settings;
    const int capability = settings.major * 10 + settings.minor, target = targetOf(text);
    std::string problem;
    if (target > capability)
      problem = fmt::format("the target is sm_{}, the device is sm_{}", target, capability);
    auto ptx = PtxModule::parse(text);
    if (!ptx.ok())
      problem = ptx.status().message();
    if (!problem.empty()) {
      writeLog(jit, problem);
      return call.refuse(CUDA_ERROR_INVALID_PTX, "{}", problem);
    }
    writeLog(jit, "");
    const uint64_t bytes = (std::strlen(text) + kModuleBytes - 1) / kModuleBytes * kModuleBytes;
    *module = call.driver.modules.add(std::make_shared<Module>(call.context, std::move(*ptx), bytes));
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuModuleUnload(CUmodule handle) {
  return entry("cuModuleUnload", [&](Call &call) {
    std::shared_ptr<Module> module;
    TRAINC_CU(call.need(call.driver.modules, handle, module));
    TRAINC_CU(call.needNoCapture());
    module->unloaded = true;
    call.context->ownBytes -= module->hasCode ? module->bytes : 0;
    for (const auto &[name, function] : module->functions)
      call.driver.functions.remove(function);
    call.driver.modules.remove(handle);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuModuleGetFunction(CUfunction *function, CUmodule handle, const char *name) {
  return entry("cuModuleGetFunction", [&](Call &call) {
    std::shared_ptr<Module> module;
    TRAINC_CU(call.need(call.driver.modules, handle, module));
    if (!function || !name)
      return call.refuse(CUDA_ERROR_INVALID_VALUE, "the name or the place for the function is null");
    const PtxFunction *ptx = module->ptx.find(name);
    if (!ptx)
      return call.refuse(CUDA_ERROR_NOT_FOUND, "the module has no entry '{}'", name);
    CUfunction &known = module->functions[name];
    if (!known)
      known = call.driver.functions.add(std::make_shared<Function>(
          Function{call.context, module, ptx, kSharedBytes - std::min(kSharedBytes, ptx->sharedBytes)}));
    *function = known;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction handle) {
  return entry("cuFuncGetAttribute", [&](Call &call) {
    std::shared_ptr<Function> function;
    TRAINC_CU(call.need(call.driver.functions, handle, function));
    const std::optional<int> known = functionAttribute(*function, call.driver.settings, attribute);
    if (!value || !known)
      return call.refuse(CUDA_ERROR_INVALID_VALUE, "attribute {} is not emulated, or its place {} is null",
                         static_cast<int>(attribute), fmt::ptr(value));
    *value = *known;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuFuncGetParamInfo(CUfunction handle, size_t index, size_t *offset, size_t *bytes) {
  return entry("cuFuncGetParamInfo", [&](Call &call) {
    std::shared_ptr<Function> function;
    TRAINC_CU(call.need(call.driver.functions, handle, function));
    if (!offset)
      return call.refuse(CUDA_ERROR_INVALID_VALUE, "the place for the offset is null");
    // not reported on stderr: callers count parameters this way
    if (index >= function->ptx->parameters.size())
      return CUDA_ERROR_INVALID_VALUE;
    const PtxParameter &parameter = function->ptx->parameters[index];
    *offset = parameter.offset;
    if (bytes)
      *bytes = parameter.bytes;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuFuncLoad(CUfunction handle) {
  return entry("cuFuncLoad", [&](Call &call) {
    std::shared_ptr<Function> function;
    TRAINC_CU(call.need(call.driver.functions, handle, function));
    function->module->loadCode();
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
  return entry("cuFuncSetAttribute", [&](Call &call) {
    std::shared_ptr<Function> function;
    TRAINC_CU(call.need(call.driver.functions, handle, function));
    if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
      return CUDA_SUCCESS; // only a hint
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
      return call.refuse(CUDA_ERROR_INVALID_VALUE, "attribute {} is not emulated",
                         static_cast<int>(attribute));
    const int maximum =
        static_cast<int>(kMaxSharedBytes - std::min(kMaxSharedBytes, function->ptx->sharedBytes));
    if (value < 0 || value > maximum)
      return call.refuse(CUDA_ERROR_INVALID_VALUE, "{} bytes of dynamic shared memory, at most {}", value,
                         maximum);
    function->dynamicLimit = static_cast<uint32_t>(value);
    return CUDA_SUCCESS;
  });
}

} // extern "C"
