// Exports of libnccl.so.2. A definition that differs from nccl.h's declaration does not compile.
#include "test/emulator/calls/calls.h"
#include "test/emulator/libcuda/extension.h"
#include "test/emulator/libnccl/group.h"
#include "test/emulator/libnccl/objects.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace {

using namespace trainc::emulator;

constexpr std::array<std::string_view, 20> kEntries = {"ncclGetVersion",
                                                       "ncclGetUniqueId",
                                                       "ncclCommInitRankConfig",
                                                       "ncclCommGetAsyncError",
                                                       "ncclCommAbort",
                                                       "ncclCommDestroy",
                                                       "ncclCommFinalize",
                                                       "ncclCommCount",
                                                       "ncclCommUserRank",
                                                       "ncclCommRegister",
                                                       "ncclCommDeregister",
                                                       "ncclMemAlloc",
                                                       "ncclMemFree",
                                                       "ncclGroupStart",
                                                       "ncclGroupEnd",
                                                       "ncclAllGather",
                                                       "ncclReduceScatter",
                                                       "ncclAllReduce",
                                                       "ncclSend",
                                                       "ncclRecv"};

Calls &calls() {
  static Calls &instance = *[] {
    auto *made = new Calls({.prefix = "nccl", .entries = kEntries, .codeOf = resultNamed});
    made->reset();
    return made;
  }();
  return instance;
}

/// Counts the call, injects a requested error, and writes the trace.
template <typename Body> ncclResult_t call(std::string_view entry, Body body) {
  const std::optional<int> fault = calls().count(entry);
  const ncclResult_t result = fault ? static_cast<ncclResult_t>(*fault) : body();
  if (fault)
    noteError(fmt::format("{}: an error that TRAINC_EMULATOR_FAULT asks for", entry));
  calls().trace(entry, nameOf(result));
  return result;
}

/// Likewise for a call on a communicator.
template <typename Body> ncclResult_t call(const char *entry, ncclComm_t handle, Body body) {
  return call(entry, [&] {
    const std::shared_ptr<Comm> comm = findComm(handle, entry);
    return comm ? body(comm) : ncclInvalidArgument;
  });
}

int version() {
  const char *text = std::getenv("TRAINC_EMULATOR_NCCL_VERSION");
  return text ? std::atoi(text) : NCCL_VERSION_CODE;
}

bool manyOnOneGpu() {
  const char *text = std::getenv("NCCL_MULTI_RANK_GPU_ENABLE");
  return version() >= NCCL_VERSION(2, 30, 0) && text && std::strcmp(text, "1") == 0;
}

CUdeviceptr addressOf(const void *pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

ncclResult_t open(ncclComm_t *handle, int ranks, const ncclUniqueId &id, int rank,
                  const ncclConfig_t *config) {
  if (handle == nullptr || ranks < 1 || ranks > static_cast<int>(kMaxRanks) || rank < 0 || rank >= ranks)
    return refuse(ncclInvalidArgument, "ncclCommInitRankConfig: rank {} of {}; at most {} are emulated", rank,
                  ranks, kMaxRanks);
  const ncclConfig_t expected = NCCL_CONFIG_INITIALIZER;
  if (config && (config->size != expected.size || config->magic != expected.magic))
    return refuse(ncclInvalidArgument,
                  "ncclCommInitRankConfig: the config was not made by NCCL_CONFIG_INITIALIZER");
  const auto gpu = currentGpu();
  if (!gpu)
    return refuse(ncclInvalidUsage, "ncclCommInitRankConfig: no device's primary context is current");
  const bool blocking = config == nullptr || config->blocking != 0;
  const auto comm = std::make_shared<Comm>(CommSettings{.id = id.internal,
                                                        .ranks = static_cast<uint32_t>(ranks),
                                                        .rank = static_cast<uint32_t>(rank),
                                                        .blocking = blocking,
                                                        .gpu = *gpu,
                                                        .manyOnOneGpu = manyOnOneGpu()});
  const ncclResult_t result = comm->open();
  if (result == ncclSuccess || result == ncclInProgress)
    *handle = addComm(comm);
  return result;
}

} // namespace

ncclResult_t ncclGetVersion(int *result) {
  return call("ncclGetVersion", [&] {
    *result = version();
    return ncclSuccess;
  });
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  return call("ncclGetUniqueId", [&] {
    static std::atomic<uint32_t> given{0};
    *id = {};
    const std::string name = fmt::format("/trainc-nccl-{}-{}", getpid(), given++);
    std::memcpy(id->internal, name.data(), name.size());
    return ncclSuccess;
  });
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int nranks, ncclUniqueId commId, int rank,
                                    ncclConfig_t *config) {
  return call("ncclCommInitRankConfig", [&] { return open(comm, nranks, commId, rank, config); });
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *asyncError) {
  return call("ncclCommGetAsyncError", comm, [&](const std::shared_ptr<Comm> &found) {
    *asyncError = found->poll();
    return ncclSuccess;
  });
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  return call("ncclCommAbort", comm, [&](const std::shared_ptr<Comm> &found) {
    removeComm(comm);
    return trainc::emulator::abort(found);
  });
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  return call("ncclCommDestroy", comm, [&](const std::shared_ptr<Comm> &found) {
    found->destroy();
    removeComm(comm);
    return ncclSuccess;
  });
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  return call("ncclCommFinalize", comm, [&](const std::shared_ptr<Comm> &found) {
    const ncclResult_t ready = found->checkReady("ncclCommFinalize");
    return ready == ncclSuccess ? found->finalize() : ready;
  });
}

ncclResult_t ncclCommCount(const ncclComm_t comm, int *count) {
  return call("ncclCommCount", comm, [&](const std::shared_ptr<Comm> &found) {
    *count = static_cast<int>(found->ranks());
    return ncclSuccess;
  });
}

ncclResult_t ncclCommUserRank(const ncclComm_t comm, int *rank) {
  return call("ncclCommUserRank", comm, [&](const std::shared_ptr<Comm> &found) {
    *rank = static_cast<int>(found->rank());
    return ncclSuccess;
  });
}

ncclResult_t ncclCommRegister(const ncclComm_t comm, void *buff, size_t size, void **handle) {
  return call("ncclCommRegister", comm, [&](const std::shared_ptr<Comm> &found) {
    const ncclResult_t ready = found->checkReady("ncclCommRegister");
    if (ready != ncclSuccess)
      return ready;
    if (emulatorBytes(addressOf(buff), size) == nullptr)
      return refuse(ncclInvalidArgument, "ncclCommRegister: {} bytes at {} are not live memory of the device",
                    size, buff);
    *handle = found->enrol(addressOf(buff), size);
    return ncclSuccess;
  });
}

ncclResult_t ncclCommDeregister(const ncclComm_t comm, void *handle) {
  return call("ncclCommDeregister", comm, [&](const std::shared_ptr<Comm> &found) {
    return found->release(handle)
               ? ncclSuccess
               : refuse(ncclInvalidArgument, "ncclCommDeregister: nothing is registered by this handle");
  });
}

ncclResult_t ncclMemAlloc(void **ptr, size_t size) {
  return call("ncclMemAlloc", [&] { return allocate(ptr, size); });
}

ncclResult_t ncclMemFree(void *ptr) {
  return call("ncclMemFree", [&] { return release(ptr); });
}

ncclResult_t ncclGroupStart() {
  return call("ncclGroupStart", [] {
    beginGroup();
    return ncclSuccess;
  });
}

ncclResult_t ncclGroupEnd() {
  return call("ncclGroupEnd", [] { return endGroup(); });
}

ncclResult_t ncclAllGather(const void *sendbuff, void *recvbuff, size_t sendcount, ncclDataType_t datatype,
                           ncclComm_t comm, cudaStream_t stream) {
  return call("ncclAllGather", comm, [&](const std::shared_ptr<Comm> &found) {
    return submit(found,
                  {.kind = OperationKind::kAllGather,
                   .type = datatype,
                   .count = sendcount,
                   .source = addressOf(sendbuff),
                   .destination = addressOf(recvbuff)},
                  stream);
  });
}

ncclResult_t ncclReduceScatter(const void *sendbuff, void *recvbuff, size_t recvcount,
                               ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm,
                               cudaStream_t stream) {
  return call("ncclReduceScatter", comm, [&](const std::shared_ptr<Comm> &found) {
    if (op != ncclSum)
      return refuse(ncclInvalidArgument, "ncclReduceScatter: sums alone are emulated");
    return submit(found,
                  {.kind = OperationKind::kReduceScatter,
                   .type = datatype,
                   .count = recvcount,
                   .source = addressOf(sendbuff),
                   .destination = addressOf(recvbuff)},
                  stream);
  });
}

ncclResult_t ncclAllReduce(const void *sendbuff, void *recvbuff, size_t count, ncclDataType_t datatype,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return call("ncclAllReduce", comm, [&](const std::shared_ptr<Comm> &found) {
    if (op != ncclSum)
      return refuse(ncclInvalidArgument, "ncclAllReduce: sums alone are emulated");
    return submit(found,
                  {.kind = OperationKind::kAllReduce,
                   .type = datatype,
                   .count = count,
                   .source = addressOf(sendbuff),
                   .destination = addressOf(recvbuff)},
                  stream);
  });
}

ncclResult_t ncclSend(const void *sendbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return call("ncclSend", comm, [&](const std::shared_ptr<Comm> &found) {
    return submit(found,
                  {.kind = OperationKind::kSend,
                   .type = datatype,
                   .count = count,
                   .source = addressOf(sendbuff),
                   .peer = static_cast<uint32_t>(peer)},
                  stream);
  });
}

ncclResult_t ncclRecv(void *recvbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return call("ncclRecv", comm, [&](const std::shared_ptr<Comm> &found) {
    return submit(found,
                  {.kind = OperationKind::kReceive,
                   .type = datatype,
                   .count = count,
                   .destination = addressOf(recvbuff),
                   .peer = static_cast<uint32_t>(peer)},
                  stream);
  });
}

const char *ncclGetErrorString(ncclResult_t result) { return textOf(result); }

const char *ncclGetLastError(ncclComm_t /*comm*/) { return lastError(); }
