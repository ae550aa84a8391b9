#include "runtime/comm/nccl/nccl_group.h"

#include <chrono>
#include <thread>
#include <utility>

namespace trainc {

namespace {

constexpr auto kBetweenLooks = std::chrono::microseconds(100);

} // namespace

NcclGroup::~NcclGroup() { abort(); }

Status NcclGroup::open(const ncclUniqueId &id, uint32_t ranks, uint32_t rank, const NcclTimeout &timeout) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  TRAINC_RETURN_IF_ERROR(
      nccl().ncclCommInitRankConfig(&handle_, static_cast<int>(ranks), id, static_cast<int>(rank), &config));
  return waitUntilDone("ncclCommInitRankConfig", timeout);
}

Status NcclGroup::enrol(void *memory, uint64_t bytes, const NcclTimeout &timeout) {
  void *enrolled = nullptr;
  TRAINC_RETURN_IF_ERROR(nccl().ncclCommRegister(handle_, memory, bytes, &enrolled));
  enrolled_.push_back(enrolled);
  return waitUntilDone("ncclCommRegister", timeout);
}

Status NcclGroup::waitUntilDone(const char *call, const NcclTimeout &timeout) const {
  for (;;) {
    ncclResult_t state = ncclSuccess;
    TRAINC_RETURN_IF_ERROR(nccl().ncclCommGetAsyncError(handle_, &state));
    if (state != ncclInProgress)
      return NcclVendor::status(call, state);
    TRAINC_RETURN_IF_ERROR(timeout());
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

Status NcclGroup::health() const {
  ncclResult_t state = ncclSuccess;
  TRAINC_RETURN_IF_ERROR(nccl().ncclCommGetAsyncError(handle_, &state));
  return NcclVendor::status("NCCL", state);
}

bool NcclGroup::mayHaveLostPeers() const {
  ncclResult_t state = ncclSuccess;
  return handle_ != nullptr && nccl().ncclCommGetAsyncError(handle_, &state).ok() &&
         (state == ncclRemoteError || state == ncclSystemError || state == ncclInternalError);
}

/// The result is ignored, because the run ends.
void NcclGroup::abort() {
  if (const ncclComm_t handle = std::exchange(handle_, nullptr))
    (void)nccl().ncclCommAbort.raw(handle);
}

Status NcclGroup::close(const NcclTimeout &timeout) {
  if (handle_ == nullptr)
    return {};
  for (void *enrolled : std::exchange(enrolled_, {}))
    TRAINC_RETURN_IF_ERROR(nccl().ncclCommDeregister(handle_, enrolled));
  TRAINC_RETURN_IF_ERROR(nccl().ncclCommFinalize(handle_));
  TRAINC_RETURN_IF_ERROR(waitUntilDone("ncclCommFinalize", timeout));
  return nccl().ncclCommDestroy(std::exchange(handle_, nullptr));
}

} // namespace trainc
