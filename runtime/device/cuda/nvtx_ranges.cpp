#include "runtime/device/cuda/nvtx_ranges.h"

#include "plan/facts/view.h"

// Part of the CUDA toolkit, which some packages omit. The profiler's library is found at run time.
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>

namespace trainc {

namespace {

/// Null if no profiler listens.
nvtxDomainHandle_t nvtxDomain() {
  static const nvtxDomainHandle_t domain = nvtxDomainCreateA("trainc");
  return domain;
}

bool isNvtxListening() { return nvtxDomain() != nullptr; }

void pushNvtxRange(const std::string &name) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name.c_str();
  nvtxDomainRangePushEx(nvtxDomain(), &attributes);
}

void popNvtxRange() { nvtxDomainRangePop(nvtxDomain()); }

} // namespace

} // namespace trainc
#else
namespace trainc {

namespace {

bool isNvtxListening() { return false; }
void pushNvtxRange(const std::string &) {}
void popNvtxRange() {}

} // namespace

} // namespace trainc
#endif

namespace trainc {

void NvtxRange::beginStep(uint64_t number) {
  if (isNvtxListening())
    pushNvtxRange(fmt::format("step {}", number));
}

void NvtxRange::endStep() {
  if (isNvtxListening())
    popNvtxRange();
}

NvtxRange::NvtxRange(const Program &entry) {
  if (isNvtxListening())
    pushNvtxRange(std::string(entry.name));
}

NvtxRange::NvtxRange(const Program &program, const Step &step) {
  if (isNvtxListening())
    pushNvtxRange(sourceText(*program.plan->sources()->Get(step.instruction->source())));
}

NvtxRange::~NvtxRange() {
  if (isNvtxListening())
    popNvtxRange();
}

} // namespace trainc
