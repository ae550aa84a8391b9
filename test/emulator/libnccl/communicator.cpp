#include "test/emulator/libnccl/communicator.h"

#include "test/emulator/libcuda/extension.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace trainc::emulator {

namespace {

/// Maximum number of polls until a call is no longer in progress.
constexpr uint32_t kMaxPolls = 3;
constexpr std::chrono::milliseconds kBetweenLooks{1};

uint64_t seedFromEnvironment() {
  const char *seed = std::getenv("TRAINC_EMULATOR_SEED");
  return seed ? std::strtoull(seed, nullptr, 10) : 1;
}

bool abortHangs() {
  const char *text = std::getenv("TRAINC_EMULATOR_NCCL_ABORT");
  return text && std::strcmp(text, "hang") == 0;
}

bool isCaptured(CUstream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE;
}

bool overlap(CUdeviceptr a, uint64_t aBytes, CUdeviceptr b, uint64_t bBytes) {
  return a < b + bBytes && b < a + aBytes;
}

} // namespace

/// Execution of a group's operations. The device polls isReady(); a graph does so in each launch.
class Comm::Run {
public:
  Run(std::shared_ptr<Comm> comm, std::vector<Operation> operations, bool isCaptured)
      : comm_(std::move(comm)), operations_(std::move(operations)), isCaptured_(isCaptured) {
    comm_->captured_ += isCaptured_;
  }
  Run(const Run &) = delete;
  Run &operator=(const Run &) = delete;
  ~Run() { comm_->captured_ -= isCaptured_; }

  bool isReady() {
    failure_.reset();
    if (comm_->destroyed_.load())
      failure_ = "a collective runs whose communicator was destroyed";
    if (comm_->destroyed_.load() || comm_->aborted_.load())
      return end();
    const Run *none = nullptr;
    if (!progress_) {
      if (!comm_->running_.compare_exchange_strong(none, this))
        return false; // an operation of another stream is in flight
      progress_.emplace(comm_->exchange_->run(operations_));
    }
    if (!progress_->advance())
      return false;
    failure_ = progress_->failure();
    return end();
  }
  std::optional<std::string> result() { return failure_; }

private:
  bool end() {
    if (progress_) {
      progress_.reset();
      comm_->running_.store(nullptr);
    }
    return true;
  }

  std::shared_ptr<Comm> comm_;
  std::vector<Operation> operations_;
  bool isCaptured_; ///< graphs own the run, and launches until they end
  std::optional<Progress> progress_;
  std::optional<std::string> failure_;
};

Comm::Comm(CommSettings settings)
    : settings_(std::move(settings)), random_(seedFromEnvironment() + settings_.rank) {}

ncclResult_t Comm::open() {
  Result<std::shared_ptr<Meeting>> meeting = Meeting::open(settings_.id, settings_.ranks, settings_.rank);
  if (!meeting.ok())
    return refuse(ncclInvalidUsage, "{}", meeting.status().message());
  meeting_ = std::move(*meeting);
  meeting_->own().gpu = settings_.gpu;
  meeting_->come();
  exchange_ = std::make_unique<RankExchange>(meeting_, seedFromEnvironment());
  if (!settings_.blocking)
    return inProgress([] { return ncclSuccess; });
  while (!meeting_->everyoneHasCome())
    std::this_thread::sleep_for(kBetweenLooks);
  return opened();
}

ncclResult_t Comm::opened() {
  isOpen_ = true;
  for (uint32_t rank = 0; rank < ranks(); ++rank)
    if (rank != this->rank() && !settings_.manyOnOneGpu && meeting_->box(rank).gpu == settings_.gpu)
      return state_ = refuse(ncclInvalidUsage, "Duplicate GPU detected: ranks {} and {} are on one device",
                             this->rank(), rank);
  return state_;
}

ncclResult_t Comm::poll() {
  const std::lock_guard lock(mutex_);
  if (aborted_.load())
    return ncclInvalidUsage;
  if (meeting_->someoneAborted())
    return ncclRemoteError;
  if (polls_ == 0)
    return state_;
  if (!isOpen_ && !meeting_->everyoneHasCome())
    return ncclInProgress;
  if (!isOpen_ && opened() != ncclSuccess)
    polls_ = 1;
  if (isFinalizing_ && captured_.load() > 0)
    return ncclInProgress;
  if (--polls_ > 0)
    return ncclInProgress;
  for (const auto &call : std::exchange(pending_, {}))
    if (state_ == ncclSuccess)
      state_ = call();
  return state_;
}

ncclResult_t Comm::inProgress(std::function<ncclResult_t()> then) {
  const std::lock_guard lock(mutex_);
  polls_ = 1 + static_cast<uint32_t>(random_() % kMaxPolls);
  pending_.push_back(std::move(then));
  return ncclInProgress;
}

ncclResult_t Comm::checkReady(const char *entry) {
  const std::lock_guard lock(mutex_);
  if (aborted_.load())
    return refuse(ncclInvalidUsage, "{}: the communicator was aborted", entry);
  if (polls_ > 0)
    return refuse(
        ncclInvalidUsage,
        "{}: a call of this communicator is in progress; ask ncclCommGetAsyncError() until it is not", entry);
  return state_ == ncclSuccess ? ncclSuccess : refuse(state_, "{}: the communicator has failed", entry);
}

ncclResult_t Comm::checkOperation(const Operation &operation) const {
  const size_t bytes = bytesOf(operation.type);
  if (bytes == 0)
    return refuse(ncclInvalidArgument, "{}: the type is not emulated", describe(operation));
  if (isPairwise(operation.kind) && operation.peer >= ranks())
    return refuse(ncclInvalidArgument, "{}: there are {} ranks", describe(operation), ranks());
  const bool reads = operation.kind != OperationKind::kReceive,
             writes = operation.kind != OperationKind::kSend;
  const uint64_t source = reads ? sourceElements(operation, ranks()) * bytes : 0;
  const uint64_t destination = writes ? destinationElements(operation, ranks()) * bytes : 0;
  if (!isEnrolled(operation.source, source) || !isEnrolled(operation.destination, destination))
    return refuse(ncclInvalidArgument, "{}: memory is not registered with this communicator",
                  describe(operation));
  if (source == 0 || destination == 0 ||
      !overlap(operation.source, source, operation.destination, destination))
    return ncclSuccess;
  const uint64_t part = rank() * operation.count * bytes;
  const bool inPlace = operation.kind == OperationKind::kAllReduce ? operation.source == operation.destination
                       : operation.kind == OperationKind::kAllGather
                           ? operation.source == operation.destination + part
                           : operation.destination == operation.source + part;
  return inPlace ? ncclSuccess
                 : refuse(ncclInvalidArgument, "{}: source and destination overlap, and not in place",
                          describe(operation));
}

ncclResult_t Comm::enqueue(std::vector<Operation> operations, CUstream stream) {
  for (const Operation &operation : operations)
    if (const ncclResult_t result = checkOperation(operation); result != ncclSuccess)
      return result;
  if (settings_.blocking)
    return launch(std::move(operations), stream);
  return inProgress(
      [this, operations = std::move(operations), stream] { return launch(operations, stream); });
}

ncclResult_t Comm::launch(std::vector<Operation> operations, CUstream stream) {
  std::string what = "NCCL: " + describe(operations.front());
  if (operations.size() > 1)
    what += fmt::format(" and {} more", operations.size() - 1);
  const auto run = std::make_shared<Run>(shared_from_this(), std::move(operations), isCaptured(stream));
  const CUresult result =
      emulatorEnqueueWhen(stream, what, [run] { return run->isReady(); }, [run] { return run->result(); });
  return result == CUDA_SUCCESS
             ? ncclSuccess
             : refuse(ncclUnhandledCudaError, "{}: CUDA error {}", what, static_cast<int>(result));
}

ncclResult_t Comm::finalize() {
  isFinalizing_ = true;
  if (!settings_.blocking)
    return inProgress([] { return ncclSuccess; });
  awaitGraphs();
  return ncclSuccess;
}

void Comm::abort() {
  aborted_.store(true);
  meeting_->noteAborted();
  while (abortHangs())
    std::this_thread::sleep_for(kBetweenLooks);
}

void Comm::awaitGraphs() const {
  while (captured_.load() > 0)
    std::this_thread::sleep_for(kBetweenLooks);
}

void Comm::destroy() {
  awaitGraphs();
  destroyed_.store(true);
}

void *Comm::enrol(CUdeviceptr address, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  void *handle = reinterpret_cast<void *>(++handles_ << 4);
  enrolled_[handle] = {address, bytes};
  return handle;
}

bool Comm::release(const void *handle) {
  const std::lock_guard lock(mutex_);
  return enrolled_.erase(handle) > 0;
}

bool Comm::isEnrolled(CUdeviceptr address, uint64_t bytes) const {
  return bytes == 0 || std::ranges::any_of(enrolled_, [&](const auto &each) {
           const auto &[begin, size] = each.second;
           return address >= begin && bytes <= size && address - begin <= size - bytes;
         });
}

} // namespace trainc::emulator
