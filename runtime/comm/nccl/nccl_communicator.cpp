#include "runtime/comm/nccl/nccl_communicator.h"

#include "base/clock.h"
#include "plan/cost/collective_seconds.h"
#include "plan/facts/dtype.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace trainc {

namespace {

constexpr auto kBetweenPolls = std::chrono::microseconds(200);
/// Maximum wait for another rank to report why NCCL has failed.
constexpr double kCauseSeconds = 1;
/// High stream priority: collectives delay other ranks, too.
constexpr int kPriority = -1;
constexpr const char *kShareVariable = "NCCL_MULTI_RANK_GPU_ENABLE";

/// Data that ranks exchange before NCCL connects them.
struct Greeting {
  int32_t version = 0;
  std::array<char, 16> gpu{};
};

/// All-gathers a value of each rank, in rank order.
template <typename Value> Result<std::vector<Value>> tellAll(Communicator &hosts, const Value &own) {
  static_assert(sizeof(Value) <= Communicator::kMaxExchangeBytes);
  std::vector<Value> all(hosts.ranks());
  TRAINC_RETURN_IF_ERROR(
      hosts.exchange(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(all))));
  return all;
}

Status checkSharing(uint32_t first, uint32_t second, int version) {
  if (version >= kNcclManyRanksOfGpu && NcclCommunicator::sharingIsAsked())
    return {};
  int visible = 0;
  TRAINC_RETURN_IF_ERROR(driver().cuDeviceGetCount(&visible));
  return invalidInput(
      "ranks {} and {} are on one GPU: expected a GPU for each, found {} that a rank sees; let ranks see "
      "more "
      "(CUDA_VISIBLE_DEVICES), or start fewer ranks on this host, for which the model is compiled with a "
      "smaller --ranks. To share a GPU, which is experimental, takes NCCL {} or newer (found {}) and {}=1 "
      "({})",
      first, second, visible, vendorVersionText(kNcclManyRanksOfGpu), vendorVersionText(version),
      kShareVariable, NcclCommunicator::sharingIsAsked() ? "set" : "not set");
}

} // namespace

bool NcclCommunicator::sharingIsAsked() {
  const char *value = std::getenv(kShareVariable);
  return value && std::strcmp(value, "1") == 0;
}

Result<std::unique_ptr<NcclCommunicator>> NcclCommunicator::create(std::unique_ptr<Communicator> hosts,
                                                                   const NcclOptions &options) {
  Communicator &peers = *hosts;
  const auto make = [&]() -> Result<std::unique_ptr<NcclCommunicator>> {
    TRAINC_RETURN_IF_ERROR(loadNccl());
    TRAINC_RETURN_IF_ERROR(checkMesh(options.mesh));
    TRAINC_ASSIGN_OR_RETURN(CudaContext context, CudaContext::open(options.place));
    TRAINC_ASSIGN_OR_RETURN(NcclWatch watch, NcclWatch::create());
    TRAINC_ASSIGN_OR_RETURN(CudaStream stream, makeCudaStream(kPriority));
    return std::unique_ptr<NcclCommunicator>(new NcclCommunicator(
        std::move(hosts), options, std::move(context), std::move(watch), std::move(stream)));
  };
  Result<std::unique_ptr<NcclCommunicator>> made = make();
  const Status status = made.ok() ? (*made)->connect() : made.status();
  if (status.ok())
    return made;
  peers.fail(status.message());
  return status;
}

NcclCommunicator::NcclCommunicator(std::unique_ptr<Communicator> hosts, const NcclOptions &options,
                                   CudaContext context, NcclWatch watch, CudaStream stream)
    : options_(options), hosts_(std::move(hosts)), context_(std::move(context)), watch_(std::move(watch)),
      stream_(std::move(stream)) {}

NcclCommunicator::~NcclCommunicator() {
  if (!flights_.empty())
    hosts_->fail("it ended before its collectives");
  if (!context_.enter().ok() || !flights_.empty() || !hosts_->failure().ok() || !leave().ok())
    abort();
}

/// No work may be in flight.
Status NcclCommunicator::leave() {
  TRAINC_RETURN_IF_ERROR(driver().cuStreamSynchronize(stream_.get()));
  for (NcclGroup &group : groups_)
    TRAINC_RETURN_IF_ERROR(group.close(timeout()));
  for (void *arena : arenas_)
    TRAINC_RETURN_IF_ERROR(nccl().ncclMemFree(arena));
  return {};
}

/// Aborts all groups together: a running graph releases the work of one group only after it has passed the
/// collectives of the others. The results are ignored, because the run ends.
void NcclCommunicator::abort() {
  (void)nccl().ncclGroupStart.raw();
  for (NcclGroup &group : groups_)
    group.abort();
  (void)nccl().ncclGroupEnd.raw();
}

Status NcclCommunicator::connect() {
  TRAINC_RETURN_IF_ERROR(checkRanks());
  const auto count = static_cast<uint8_t>(options_.mesh.axes().size());
  for (uint8_t end = 1; end <= count; ++end)
    for (uint8_t first = 0; first < end; ++first)
      TRAINC_RETURN_IF_ERROR(openGroup({first, end}));
  return {};
}

/// Checks conditions that NCCL would detect late or hang at.
Status NcclCommunicator::checkRanks() {
  Greeting own{.version = nccl().version};
  CUuuid uuid{};
  TRAINC_RETURN_IF_ERROR(driver().cuDeviceGetUuid(&uuid, context_.index()));
  std::ranges::copy(uuid.bytes, own.gpu.begin());
  TRAINC_ASSIGN_OR_RETURN(const std::vector<Greeting> all, tellAll(*hosts_, own));
  for (uint32_t second = 0; second < all.size(); ++second) {
    if (all[second].version != all[0].version)
      return failed("rank {} has NCCL {} and rank 0 has {}: install one version for all", second,
                    vendorVersionText(all[second].version), vendorVersionText(all[0].version));
    for (uint32_t first = 0; first < second; ++first)
      if (all[first].gpu == all[second].gpu)
        TRAINC_RETURN_IF_ERROR(checkSharing(first, second, own.version));
  }
  return {};
}

/// The first member of each group creates its NCCL id; all ids are exchanged at once.
Status NcclCommunicator::openGroup(Axes axes) {
  const Members members = options_.mesh.members(axes, rank());
  const size_t index = options_.mesh.choiceOf(axes);
  if (members.count == 1)
    return {};
  ncclUniqueId own{};
  if (rank() == members.first)
    TRAINC_RETURN_IF_ERROR(nccl().ncclGetUniqueId(&own));
  TRAINC_ASSIGN_OR_RETURN(const std::vector<ncclUniqueId> ids, tellAll(*hosts_, own));
  const Status status =
      groups_[index].open(ids[members.first], members.count, members.placeOf(rank()), timeout());
  if (!status.ok())
    return causeOf(status);
  collectives_[index].emplace(groups_[index], members, rank());
  return {};
}

/// Reports progress during long NCCL operations.
NcclTimeout NcclCommunicator::timeout() const {
  return [this, end = steadySeconds() + options_.startSeconds]() -> Status {
    hosts_->noteProgress();
    TRAINC_RETURN_IF_ERROR(hosts_->failure());
    if (steadySeconds() > end)
      return failed("rank {}: NCCL has not answered within {} s; NCCL_DEBUG=INFO makes it say more", rank(),
                    options_.startSeconds);
    return {};
  };
}

Result<DeviceAddress> NcclCommunicator::allocate(std::string_view name, uint64_t bytes, FirstBytes first) {
  void *memory = nullptr;
  if (const Status status = nccl().ncclMemAlloc(&memory, std::max<uint64_t>(bytes, 1)); !status.ok())
    return failed("cannot allocate {} bytes for '{}' on rank {}: {}", bytes, name, rank(), status.message());
  arenas_.push_back(memory);
  allocated_ += bytes;
  for (NcclGroup &group : groups_)
    if (group.handle() != nullptr && bytes > 0)
      TRAINC_RETURN_IF_ERROR(group.enrol(memory, bytes, timeout()));
  if (bytes > 0 && first == FirstBytes::Zero)
    TRAINC_RETURN_IF_ERROR(
        driver().cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(memory), 0, bytes, stream_.get()));
  TRAINC_RETURN_IF_ERROR(driver().cuStreamSynchronize(stream_.get()));
  return DeviceAddress(memory);
}

std::string NcclCommunicator::description() const {
  return fmt::format("NCCL {} among {} ranks", vendorVersionText(nccl().version), ranks());
}

Status NcclCommunicator::enqueue(const Collective &collective, DeviceStream on, std::string_view place) {
  auto *stream = static_cast<CUstream>(on);
  TRAINC_RETURN_IF_ERROR(failure_);
  const std::string what = describe(collective, options_.mesh);
  const std::string text = place.empty() ? what : fmt::format("{}: {}", place, what);
  TRAINC_RETURN_IF_ERROR(watch_.begin(stream, text));
  const NcclCollectives &group = *collectives_[options_.mesh.choiceOf(collective.axes)];
  const Status status = group.enqueue(collective, localSum_, stream, timeout());
  return status.ok() ? watch_.end(stream) : giveUp(text, status);
}

Status NcclCommunicator::poll() {
  if (!failure_.ok())
    return failure_;
  const Status found = look();
  return found.ok() ? Status() : giveUp(waitsAt_ ? watch_.text(*waitsAt_) : "what ranks do together", found);
}

/// Composes the error of this rank; the others report their own. Ends no work: graphs may hold it, and the
/// caller must first report why the rank ends.
Status NcclCommunicator::giveUp(const std::string &text, const Status &found) {
  const Status cause = causeOf(found);
  failure_ = failed("rank {}: {} cannot be completed: {}", rank(), text, cause.message());
  hosts_->fail(cause.message());
  return failure_;
}

Status NcclCommunicator::look() {
  const std::optional<uint32_t> at = watch_.current();
  const bool begins = at && at != waitsAt_;
  waitsAt_ = at;
  if (!at)
    hosts_->noteProgress();
  TRAINC_RETURN_IF_ERROR(at ? hosts_->noteWait(begins) : hosts_->failure());
  for (const NcclGroup &group : groups_)
    if (group.handle() != nullptr)
      TRAINC_RETURN_IF_ERROR(group.health());
  return {};
}

/// NCCL may see the end of a rank before that rank's own report arrives, so wait for the report for a moment.
Status NcclCommunicator::causeOf(Status found) const {
  const bool mayBeOthers = std::ranges::any_of(groups_, &NcclGroup::mayHaveLostPeers);
  for (const double end = steadySeconds() + (mayBeOthers ? kCauseSeconds : 0);;) {
    TRAINC_RETURN_IF_ERROR(hosts_->failure());
    if (steadySeconds() >= end)
      return found;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

uint64_t NcclCommunicator::bytesOf(const Collective &collective) const {
  const uint32_t members = options_.mesh.shapeOf(collective.axes).members,
                 rounds = traitsOf(collective.kind).rounds;
  int64_t bytes = 0;
  for (const CollectiveRange &range : collective.ranges)
    bytes += ringBytes(rounds, int64_t(range.elements * elementBytes(range.dtype)), members);
  return uint64_t(bytes);
}

Ticket NcclCommunicator::start(const Collective &collective) {
  Flight &flight = flights_[started_];
  flight.text = describe(collective, options_.mesh);
  if (const Status status = begin(collective, flight); !status.ok())
    flight.status = failed("rank {}: {} cannot be started: {}", rank(), flight.text, status.message());
  return started_++;
}

Status NcclCommunicator::begin(const Collective &collective, Flight &flight) {
  TRAINC_ASSIGN_OR_RETURN(flight.done, makeCudaEvent(/*isTimed=*/false));
  if (collective.kind == MeetingKind::kBarrier || collective.kind == MeetingKind::kShutdown)
    flight.hosts = hosts_->start(collective);
  else
    TRAINC_RETURN_IF_ERROR(enqueue(collective, stream_.get()));
  sent_ += bytesOf(collective);
  return driver().cuEventRecord(flight.done.get(), stream_.get());
}

/// Also completes all earlier collectives.
Status NcclCommunicator::wait(Ticket ticket) {
  Status status;
  while (!flights_.empty() && flights_.begin()->first <= ticket) {
    if (status.ok())
      status = finish(flights_.begin()->second);
    flights_.erase(flights_.begin());
  }
  return status.ok() ? failure_ : status;
}

Status NcclCommunicator::finish(const Flight &flight) {
  TRAINC_RETURN_IF_ERROR(flight.status);
  for (;;) {
    const CUresult state = driver().cuEventQuery.raw(flight.done.get());
    if (state == CUDA_SUCCESS)
      break;
    if (state != CUDA_ERROR_NOT_READY)
      return failed("rank {}: {} cannot be completed: {}", rank(), flight.text,
                    driver().cuEventQuery.status(state).message());
    TRAINC_RETURN_IF_ERROR(poll());
    std::this_thread::sleep_for(kBetweenPolls);
  }
  return flight.hosts ? hosts_->wait(*flight.hosts) : Status();
}

} // namespace trainc
