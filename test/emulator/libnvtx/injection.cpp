// NVTX injection library: the tool's side.
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <mutex>
#include <nvtx3/nvToolsExt.h>
#include <string>

namespace trainc::emulator {

namespace {

void writeLine(const std::string &line) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const char *path = std::getenv("TRAINC_EMULATOR_NVTX");
  FILE *file = path ? std::fopen(path, "a") : nullptr;
  if (!file) {
    fmt::print(stderr, "emulated NVTX: cannot write to the file of TRAINC_EMULATOR_NVTX\n");
    std::_Exit(2);
  }
  fmt::print(file, "{}\n", line);
  std::fclose(file);
}

/// The handle is the name, which is never freed.
const char *nameOf(nvtxDomainHandle_t domain) { return reinterpret_cast<const char *>(domain); }

nvtxDomainHandle_t NVTX_API createDomain(const char *name) {
  return reinterpret_cast<nvtxDomainHandle_t>((new std::string(name))->data());
}

int NVTX_API pushRange(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes) {
  writeLine(fmt::format("push {} {}", nameOf(domain), attributes->message.ascii));
  return 0;
}

int NVTX_API popRange(nvtxDomainHandle_t domain) {
  writeLine(fmt::format("pop {}", nameOf(domain)));
  return 0;
}

} // namespace

} // namespace trainc::emulator

extern "C" __attribute__((visibility("default"))) int NVTX_API
InitializeInjectionNvtx2(NvtxGetExportTableFunc_t getExportTable) {
  using namespace trainc::emulator;
  const auto *callbacks = static_cast<const NvtxExportTableCallbacks *>(getExportTable(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (!callbacks || callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0 ||
      size <= NVTX_CBID_CORE2_DomainCreateA)
    return 0;
  const auto set = [&](NvtxCallbackIdCore2 id, auto *function) {
    *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
  };
  set(NVTX_CBID_CORE2_DomainCreateA, createDomain);
  set(NVTX_CBID_CORE2_DomainRangePushEx, pushRange);
  set(NVTX_CBID_CORE2_DomainRangePop, popRange);
  return 1;
}
