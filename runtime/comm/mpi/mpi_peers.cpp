#include "runtime/comm/mpi/mpi_peers.h"

#include "base/clock.h"
#include "base/hash.h"

#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <poll.h>
#include <span>
#include <string>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

// --- Detection of ended processes ---

namespace trainc {

namespace {

/// Identifies a process across PID namespaces.
struct Address {
  uint64_t space; ///< equal if process ids are comparable; 0: unknown
  int64_t process;
};

/// The boot id of this host; empty if the system does not tell.
std::string bootOfHost() {
  std::string text(64, '\0');
  const int file = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  const ssize_t read = file < 0 ? 0 : ::read(file, text.data(), text.size());
  if (file >= 0)
    ::close(file);
  text.resize(static_cast<size_t>(read < 0 ? 0 : read));
  return text;
}

/// Hash of boot id and PID namespace: containers of one host have process ids of their own.
uint64_t numberSpace() {
  struct stat space{};
  const std::string boot = bootOfHost();
  if (boot.empty() || ::stat("/proc/self/ns/pid", &space) != 0)
    return 0;
  const std::string both = fmt::format("{} {}", boot, space.st_ino);
  return xxh3(std::as_bytes(std::span(both)));
}

int openProcess(int64_t process) { return static_cast<int>(::syscall(SYS_pidfd_open, process, 0)); }

} // namespace

ProcessWatch::ProcessWatch(const MpiJob &job) : processes_(job.ranks(), -1) {
  const Address own{.space = numberSpace(), .process = ::getpid()};
  std::vector<Address> all(job.ranks());
  if (MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, job.control()) !=
      MPI_SUCCESS)
    return;
  for (uint32_t rank = 0; rank < job.ranks(); ++rank)
    if (rank != job.rank() && own.space != 0 && all[rank].space == own.space)
      processes_[rank] = openProcess(all[rank].process);
}

ProcessWatch::~ProcessWatch() {
  for (const int process : processes_)
    if (process >= 0)
      ::close(process);
}

bool ProcessWatch::hasEnded(uint32_t rank) const {
  pollfd process{.fd = processes_[rank], .events = POLLIN, .revents = 0};
  return process.fd >= 0 && ::poll(&process, 1, 0) > 0;
}

} // namespace trainc

// --- Messages between ranks ---

namespace trainc {

namespace {

constexpr double kLongestBeat = 0.5;
/// Interval between two checks of the peers that this rank waits for.
constexpr double kLookSeconds = 0.02;
constexpr double kLingerSeconds = 0.5;
constexpr const char *kDiedReason = "its process has died; see what the launcher says of it";

} // namespace

MpiPeers::MpiPeers(const MpiJob &job, double timeoutSeconds)
    : job_(job), timeout_(timeoutSeconds), beatSeconds_(std::min(kLongestBeat, timeoutSeconds / 8)),
      processes_(job), hosts_(job), heard_(job.ranks()), beats_(job.ranks()), failures_(job.ranks()),
      peers_(job.ranks(), timeoutSeconds), everyone_(1, kCircleTimeouts * timeoutSeconds) {
  listen();
}

void MpiPeers::fail(uint32_t rank, std::string_view reason) {
  if (failure_.write(rank, reason.substr(0, Message{}.reason.size() - 1)))
    ownFailure_.store(true, std::memory_order_release);
}

void MpiPeers::service() {
  for (int arrived = 1; arrived != 0;) {
    MPI_Status status;
    MPI_Test(&listening_, &arrived, &status);
    if (arrived != 0) {
      hear(static_cast<uint32_t>(status.MPI_SOURCE));
      listen();
    }
  }
  if (ownFailure_.load(std::memory_order_acquire) && !told_)
    tellFailure();
  tellLife(steadySeconds());
  serviceHosts();
}

void MpiPeers::serviceHosts() {
  const bool begins = !hosts_.isInFlight();
  if (hasFailed())
    hosts_.abandon();
  else if (const int code = hosts_.advance(); code != MPI_SUCCESS)
    fail(job_.rank(), "MPI: " + mpiError(code));
  else if (begins && hosts_.isInFlight())
    beginWait();
}

void MpiPeers::listen() {
  MPI_Irecv(&incoming_, sizeof incoming_, MPI_BYTE, MPI_ANY_SOURCE, 0, job_.control(), &listening_);
}

void MpiPeers::hear(uint32_t sender) {
  if (incoming_.isFailure != 0)
    failure_.write(incoming_.rank, incoming_.reason.data());
  heard_[sender] = {incoming_.progress, incoming_.waits, incoming_.left, incoming_.exchanges};
}

/// Skips the message if the previous one to this peer is still in flight, as to a stopped process.
void MpiPeers::send(Outgoing &out, uint32_t to) {
  int left = 0;
  MPI_Test(&out.request, &left, MPI_STATUS_IGNORE);
  if (left == 0)
    return;
  out.message.progress = toldProgress_;
  out.message.waits = toldWaits_;
  out.message.left = left_;
  out.message.exchanges = hosts_.begun();
  MPI_Isend(&out.message, sizeof out.message, MPI_BYTE, static_cast<int>(to), 0, job_.control(),
            &out.request);
}

void MpiPeers::tellFailure() {
  told_ = true;
  for (uint32_t peer = 0; peer < job_.ranks(); ++peer) {
    Message &message = failures_[peer].message;
    message.isFailure = 1;
    message.rank = failure_.rank();
    std::ranges::copy(failure_.reason(), message.reason.begin());
    if (peer != job_.rank())
      send(failures_[peer], peer);
  }
}

void MpiPeers::tellLife(double now) {
  const uint32_t progress = progress_.load(std::memory_order_relaxed);
  if (now - lastBeat_ < beatSeconds_ || (progress == toldProgress_ && waits_ == toldWaits_ && left_ == 0))
    return;
  lastBeat_ = now;
  toldProgress_ = progress;
  toldWaits_ = waits_;
  for (uint32_t peer = 0; peer < job_.ranks(); ++peer)
    if (peer != job_.rank())
      send(beats_[peer], peer);
}

void MpiPeers::beginWait() {
  peers_.begin();
  everyone_.begin();
  lastLook_ = steadySeconds();
}

void MpiPeers::noteWait(const std::function<bool(uint32_t rank)> &isMissing) {
  const std::optional<double> seconds = secondsSinceLook();
  if (!seconds)
    return;
  const bool circle = everyoneWaits(*seconds);
  for (uint32_t peer = 0; peer < job_.ranks() && !hasFailed(); ++peer) {
    if (peer == job_.rank() || !(isMissing(peer) || hosts_.isMissing(peer)))
      continue;
    if (hasLeft(peer))
      fail(peer, kLeftReason);
    else if (!isGone(peer, *seconds) && circle)
      fail(peer, kCircleReason);
  }
}

void MpiPeers::noteWaitElsewhere() {
  const std::optional<double> seconds = secondsSinceLook();
  if (!seconds)
    return;
  const bool circle = everyoneWaits(*seconds);
  for (uint32_t peer = 0; peer < job_.ranks() && !hasFailed(); ++peer)
    if (peer != job_.rank())
      (void)isGone(peer, *seconds);
  if (circle && !hasFailed())
    fail(job_.rank(), elsewhereReason(kCircleTimeouts * timeout_));
}

/// Reports that this rank waits and returns the time since the last check; nothing if that was less than
/// kLookSeconds ago.
std::optional<double> MpiPeers::secondsSinceLook() {
  const double now = steadySeconds(), seconds = now - lastLook_;
  if (seconds < kLookSeconds)
    return std::nullopt;
  lastLook_ = now;
  ++waits_;
  return seconds;
}

/// Fails the peer if it has died or hangs; returns whether it did.
bool MpiPeers::isGone(uint32_t peer, double seconds) {
  if (processes_.hasEnded(peer))
    fail(peer, kDiedReason);
  else if (peers_.stalled(peer, heard_[peer].progress + heard_[peer].waits, seconds))
    fail(peer, stalledReason(timeout_));
  return hasFailed();
}

/// Whether the peer has ended its run without taking part in the exchange in flight.
bool MpiPeers::hasLeft(uint32_t peer) const {
  return heard_[peer].left != 0 && heard_[peer].exchanges < hosts_.begun() && hosts_.isMissing(peer);
}

/// Whether no rank has made progress for too long.
bool MpiPeers::everyoneWaits(double seconds) {
  uint32_t progress = progress_.load(std::memory_order_relaxed);
  for (const Peer &peer : heard_)
    progress += peer.progress;
  return everyone_.stalled(0, progress, seconds);
}

void MpiPeers::lingerAfterFailure() {
  for (const double end = steadySeconds() + kLingerSeconds; steadySeconds() < end;) {
    service();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

void MpiPeers::close() {
  MPI_Cancel(&listening_);
  MPI_Wait(&listening_, MPI_STATUS_IGNORE);
  for (Outgoing &beat : beats_)
    if (beat.request != MPI_REQUEST_NULL)
      MPI_Request_free(&beat.request);
}

} // namespace trainc
