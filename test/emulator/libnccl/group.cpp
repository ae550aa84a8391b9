#include "test/emulator/libnccl/group.h"

#include <algorithm>

namespace trainc::emulator {

namespace {

struct Batch {
  std::shared_ptr<Comm> comm;
  CUstream stream;
  std::vector<Operation> operations;
};

struct Group {
  uint32_t depth = 0;
  ncclResult_t error = ncclSuccess;
  std::vector<Batch> batches; ///< in the order of their first operations
  std::vector<std::shared_ptr<Comm>> aborted;
};

thread_local Group group;

} // namespace

void beginGroup() { ++group.depth; }

ncclResult_t endGroup() {
  if (group.depth == 0)
    return refuse(ncclInvalidUsage, "ncclGroupEnd: no group is open");
  if (--group.depth > 0)
    return ncclSuccess;
  for (const std::shared_ptr<Comm> &comm : std::exchange(group.aborted, {}))
    comm->awaitGraphs();
  ncclResult_t result = std::exchange(group.error, ncclSuccess);
  const std::vector<Batch> batches = std::exchange(group.batches, {});
  if (result != ncclSuccess)
    return result;
  for (const Batch &batch : batches) {
    const ncclResult_t each = batch.comm->enqueue(batch.operations, batch.stream);
    if (each != ncclSuccess && each != ncclInProgress)
      return each;
    if (each == ncclInProgress)
      result = each;
  }
  return result;
}

ncclResult_t submit(const std::shared_ptr<Comm> &comm, const Operation &operation, CUstream stream) {
  beginGroup();
  ncclResult_t ready = comm->checkReady(nameOf(operation.kind));
  if (ready == ncclSuccess)
    ready = comm->checkOperation(operation);
  if (ready != ncclSuccess) {
    group.error = ready;
    const ncclResult_t end = endGroup();
    return end == ncclSuccess ? ready : end;
  }
  const auto same = [&](const Batch &batch) { return batch.comm == comm && batch.stream == stream; };
  auto batch = std::ranges::find_if(group.batches, same);
  if (batch == group.batches.end())
    batch = group.batches.insert(batch, {comm, stream, {}});
  batch->operations.push_back(operation);
  return endGroup();
}

ncclResult_t abort(const std::shared_ptr<Comm> &comm) {
  beginGroup();
  comm->abort();
  group.aborted.push_back(comm);
  return endGroup();
}

} // namespace trainc::emulator
