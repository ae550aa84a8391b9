#include "test/unit/runtime/comm/nccl/nccl_ranks.h"

#include "base/small_float.h"
#include "plan/facts/dtype.h"
#include "runtime/comm/tree_sum.h"
#include "test/emulator/libcuda/extension.h"

#include <csignal>
#include <cstring>
#include <map>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace trainc::test {

namespace {

LocalGroup groupOf(const NcclJob &job) {
  auto group = LocalGroup::create(job.grid.mesh(), 4096, {.timeoutSeconds = job.timeoutSeconds});
  EXPECT_TRUE(group.ok()) << group.status().message();
  return *group;
}

Result<std::unique_ptr<NcclCommunicator>> make(const LocalGroup &group, const NcclJob &job, uint32_t rank) {
  TRAINC_ASSIGN_OR_RETURN(std::unique_ptr<Communicator> hosts, group.communicator(rank));
  return NcclCommunicator::create(std::move(hosts),
                                  {.place = {.index = rank, .ranks = job.grid.ranks, .mayShare = true},
                                   .mesh = job.grid.mesh(),
                                   .startSeconds = 20});
}

} // namespace

void onThreads(const NcclJob &job, const NcclMade &made) {
  const LocalGroup group = groupOf(job);
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < job.grid.ranks; ++rank)
    threads.emplace_back([&, rank] { made(rank, make(group, job, rank)); });
  for (std::thread &thread : threads)
    thread.join();
}

void onThreads(const NcclJob &job, const NcclBody &body) {
  onThreads(job, [&](uint32_t, Result<std::unique_ptr<NcclCommunicator>> made) {
    ASSERT_TRUE(made.ok()) << made.status().message();
    body(**made);
  });
}

void onProcesses(const NcclJob &job, bool supervised, const NcclBody &body) {
  const LocalGroup group = groupOf(job);
  std::map<pid_t, uint32_t> children;
  for (uint32_t rank = 0; rank < job.grid.ranks; ++rank) {
    const pid_t child = fork();
    children[child] = rank;
    if (child != 0)
      continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    {
      auto made = make(group, job, rank);
      EXPECT_TRUE(made.ok()) << made.status().message();
      if (made.ok())
        body(**made);
    }
    endAsChild();
  }
  while (!children.empty()) {
    int status = -1;
    const pid_t child = wait(&status);
    const uint32_t rank = children[child];
    children.erase(child);
    if (WIFSIGNALED(status) && supervised)
      group.fail(rank, fmt::format("killed by signal {}", WTERMSIG(status)));
    EXPECT_TRUE(WIFSIGNALED(status) || status == 0) << "rank " << rank << ": status " << status;
  }
}

template <typename Element> void GpuValues<Element>::write(const std::vector<Element> &values) const {
  const size_t bytes = values.size() * sizeof(Element);
  std::memcpy(emulatorBytes(address_.value(), bytes), values.data(), bytes);
}

template <typename Element> std::vector<Element> GpuValues<Element>::read() const {
  std::vector<Element> values(elements_);
  const size_t bytes = elements_ * sizeof(Element);
  std::memcpy(values.data(), emulatorBytes(address_.value(), bytes), bytes);
  return values;
}

template class GpuValues<float>;
template class GpuValues<BFloat16>;
template class GpuValues<Float16>;

Status run(NcclCommunicator &communicator, Collective collective, const CollectiveRange &range) {
  collective.ranges = std::span(&range, 1);
  return communicator.wait(communicator.start(collective));
}

/// The kernel's number encodes the type it sums, and whether the sums stay f32.
CollectiveRange summedByKernel(NcclCommunicator &communicator, CollectiveRange range,
                               uint64_t workspaceBytes) {
  const Result<DeviceAddress> workspace = communicator.allocate("workspace", workspaceBytes);
  EXPECT_TRUE(workspace.ok()) << workspace.status().message();
  range.sum = {.kernel = static_cast<uint32_t>(range.dtype) * 2 + (range.widens ? 1 : 0),
               .workspace = *workspace,
               .workspaceBytes = workspaceBytes};
  return range;
}

Status treeSumOnDevice(const LocalSumCall &call, DeviceStream stream) {
  const std::vector<DeviceAddress> addresses(call.inputs.begin(), call.inputs.end());
  const auto dtype = static_cast<fb::DType>(call.kernel / 2);
  const fb::DType outType = call.kernel % 2 == 1 ? fb::DType::F32 : dtype;
  const DeviceAddress out = call.out;
  const size_t outBytes = call.end.value() - out.value(), elements = outBytes / elementBytes(outType),
               bytes = elements * elementBytes(dtype);
  const auto work = [=]() -> std::optional<std::string> {
    std::vector<const std::byte *> inputs;
    for (const DeviceAddress address : addresses)
      inputs.push_back(emulatorBytes(address.value(), bytes));
    TreeSum(static_cast<uint32_t>(inputs.size()))
        .sum(dtype, inputs, outType, emulatorBytes(out.value(), outBytes), elements);
    emulatorNoteWritten(out.value(), outBytes);
    return std::nullopt;
  };
  return CudaVendor::status("the sum",
                            emulatorEnqueue(static_cast<CUstream>(stream), "a sum over the tree", work));
}

Status synchronise(NcclCommunicator &communicator, CUstream stream) {
  for (;;) {
    const CUresult state = driver().cuStreamQuery.raw(stream);
    if (state != CUDA_ERROR_NOT_READY)
      return CudaVendor::status("cuStreamQuery", state);
    TRAINC_RETURN_IF_ERROR(communicator.poll());
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

} // namespace trainc::test
