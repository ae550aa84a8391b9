#include "runtime/comm/mpi/mpi_communicator.h"

#include "base/thread.h"
#include "runtime/comm/mpi/entry.h"

#include <chrono>

namespace trainc {

namespace {

/// Maximum delay of an answer to peers from a rank that computes.
constexpr std::chrono::milliseconds kIdle{20};

} // namespace

Status MpiCommunicator::create(const JobOptions &options, std::unique_ptr<Communicator> &communicator) {
  std::unique_ptr<MpiCommunicator> made(new MpiCommunicator(options));
  std::promise<Status> promise;
  std::future<Status> opened = promise.get_future();
  made->thread_ = tryStartThread([self = made.get(), promise = std::move(promise)]() mutable {
    self->progressThread(std::move(promise));
  });
  if (!made->thread_.joinable())
    return failed("cannot start the thread that communicates: the system starts no more");
  if (opened.wait_for(std::chrono::duration<double>(options.startSeconds)) != std::future_status::ready) {
    made->thread_.detach(); // MPI_Init cannot be interrupted, and it uses the communicator
    (void)made.release();
    return failed(
        "MPI has not started within {} s, as it waits for ranks that have not come: they have died, "
        "hang or are stopped; see what the launcher says of them, and start the job again",
        options.startSeconds);
  }
  TRAINC_RETURN_IF_ERROR(opened.get());
  communicator = std::move(made);
  return {};
}

MpiCommunicator::~MpiCommunicator() {
  if (queue_.anyInFlight())
    fail("it ended before its collectives");
  queue_.stop();
  if (thread_.joinable())
    thread_.join();
  if (peers_ && peers_->hasFailed())
    for (ArenaMapping &arena : arenas_)
      arena.abandon(); // messages may still be in flight to and from this memory
}

Result<DeviceAddress> MpiCommunicator::allocate(std::string_view name, uint64_t bytes) {
  TRAINC_ASSIGN_OR_RETURN(ArenaMapping arena, ArenaMapping::create(name, bytes, /*reserveOnly=*/false));
  return DeviceAddress(arenas_.emplace_back(std::move(arena)).data());
}

Status MpiCommunicator::wait(Ticket ticket) {
  if (queue_.wait(ticket))
    return {};
  return failed("rank {}: {} cannot be completed: {}", rank(), describe(queue_.at(ticket), options_.mesh),
                peers_->failure());
}

Status MpiCommunicator::exchangeWithPeers(std::span<const std::byte> own, std::span<std::byte> all) {
  MpiHosts &hosts = peers_->hosts();
  hosts.post(own);
  queue_.wake();
  const bool agreed =
      hosts.wait() &&
      gatherValues(
          ranks(), own.size(), [&](uint32_t peer) -> const HostMessage & { return hosts.value(peer); },
          [&](uint32_t peer, const std::string &reason) { peers_->fail(peer, reason); }, all);
  return agreed ? Status() : failed("rank {}: the ranks cannot agree: {}", rank(), peers_->failure());
}

/// Hands the wait to the progress thread, which checks the peers.
Status MpiCommunicator::noteWait(bool begins) {
  if (begins)
    begins_.store(true, std::memory_order_relaxed);
  waits_.fetch_add(1, std::memory_order_release);
  return failure();
}

Status MpiCommunicator::failure() const {
  return peers_->hasFailed() ? failed("{}", peers_->failure()) : Status();
}

void MpiCommunicator::watchForOthers() {
  const uint32_t waits = waits_.load(std::memory_order_acquire);
  if (waits == waitsSeen_)
    return;
  waitsSeen_ = waits;
  if (begins_.exchange(false, std::memory_order_relaxed))
    peers_->beginWait();
  peers_->noteWaitElsewhere();
}

void MpiCommunicator::progressThread(std::promise<Status> opened) {
  const Status status = open();
  opened.set_value(status);
  if (!status.ok())
    return;
  progressLoop();
  close();
}

Status MpiCommunicator::chooseMesh() {
  const uint32_t started = job_.ranks(), expected = options_.mesh.ranks();
  if (options_.mesh.axes().empty() && started > 1)
    options_.mesh = Mesh({{"shard", started}});
  else if (started != expected)
    return invalidInput("the plan is for {} ranks, but MPI has started {}: start it with mpirun -n {} or "
                        "srun --mpi=pmix -n {}; torchrun starts no ranks of MPI",
                        expected, started, expected, expected);
  return checkMesh(options_.mesh);
}

Status MpiCommunicator::open() {
  TRAINC_RETURN_IF_ERROR(job_.start());
  if (Status status = chooseMesh(); !status.ok()) {
    job_.end(options_.timeoutSeconds); // all ranks have the same options
    return status;
  }
  peers_.emplace(job_, options_.timeoutSeconds);
  collectives_.emplace(job_, options_.mesh, *peers_);
  return {};
}

void MpiCommunicator::progressLoop() {
  for (PollBackoff backoff; !queue_.stopped();) {
    const bool hostsWait = peers_->hosts().isInFlight();
    const Collective *next = queue_.nextWithin(hostsWait ? std::chrono::milliseconds(0) : kIdle);
    noteLocalWait();
    peers_->service();
    if (!next) {
      watchForOthers();
      waitForHosts(hostsWait, backoff);
      continue;
    }
    queue_.noteInFlight();
    queue_.finish(collectives_->run(*next));
  }
}

void MpiCommunicator::waitForHosts(bool theyWait, PollBackoff &backoff) {
  if (!theyWait) {
    backoff = {};
    return;
  }
  peers_->noteWait([](uint32_t) { return false; });
  backoff.pause();
}

/// Finalises MPI once all ranks have arrived at the shutdown barrier; until then they may take their own
/// time.
void MpiCommunicator::close() {
  peers_->noteLeft();
  if (!collectives_->run({.kind = MeetingKind::kShutdown})) {
    peers_->lingerAfterFailure();
    return;
  }
  peers_->close();
  job_.end(options_.timeoutSeconds);
}

} // namespace trainc

/// See kMpiEntry.
extern "C" __attribute__((visibility("default"))) void
traincOpenMpi(const trainc::JobOptions &options, std::unique_ptr<trainc::Communicator> &communicator,
              trainc::Status &status);

void traincOpenMpi(const trainc::JobOptions &options, std::unique_ptr<trainc::Communicator> &communicator,
                   trainc::Status &status) {
  status = trainc::MpiCommunicator::create(options, communicator);
}
