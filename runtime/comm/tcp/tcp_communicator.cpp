#include "runtime/comm/tcp/tcp_communicator.h"

#include "base/clock.h"
#include "base/thread.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace trainc {

namespace {

constexpr int kSliceMilliseconds = 20;
constexpr double kMaxHeartbeatSeconds = 0.5;
constexpr const char *kGoneReason = "its process has ended, or the network to it has";

template <typename Value> std::optional<Value> valueIn(std::span<const std::byte> payload) {
  Value value;
  if (payload.size() != sizeof(value))
    return std::nullopt;
  std::memcpy(&value, payload.data(), sizeof(value));
  return value;
}

} // namespace

Result<std::unique_ptr<Communicator>> TcpCommunicator::create(const TcpPlace &place, TcpOptions options) {
  TRAINC_ASSIGN_OR_RETURN(std::vector<TcpMet> met, meetOverTcp(place));
  std::unique_ptr<TcpCommunicator> made(new TcpCommunicator(place.rank, place.ranks, options));
  const size_t maximum = place.ranks * std::max(sizeof(HostMessage), sizeof(Heartbeat));
  for (TcpMet &each : met)
    made->links_.push_back(
        each.socket ? std::make_unique<TcpLink>(std::move(each.socket), each.key, place.rank == 0, maximum)
                    : nullptr);
  made->wake_ = Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  made->thread_ = tryStartThread([self = made.get()] { self->serve(); });
  if (!made->thread_.joinable())
    return failed("rank {} cannot start the thread that communicates: the system starts no more", place.rank);
  return std::unique_ptr<Communicator>(std::move(made));
}

TcpCommunicator::TcpCommunicator(uint32_t rank, uint32_t ranks, TcpOptions options)
    : rank_(rank), timeout_(options.timeoutSeconds), heartbeats_(ranks),
      peers_(ranks, options.timeoutSeconds), everyone_(1, kCircleTimeouts * options.timeoutSeconds) {
  for (Turns &turns : turns_) {
    turns.messages.resize(ranks);
    turns.coming.resize(ranks);
  }
}

TcpCommunicator::~TcpCommunicator() {
  if (!thread_.joinable())
    return;
  {
    const std::scoped_lock held(mutex_);
    own().left = 1;
    send({.kind = TcpKind::kLeft, .rank = rank_, .channel = 0}, {});
    peers_.begin();
    everyone_.begin();
    stops_ = true;
  }
  wake();
  thread_.join();
}

// --- The thread that serves the links ---

void TcpCommunicator::serve() {
  for (double before = steadySeconds();;) {
    std::vector<pollfd> all = {{.fd = wake_.get(), .events = POLLIN, .revents = 0}};
    {
      const std::scoped_lock held(mutex_);
      const double now = steadySeconds();
      if (stops_ && shutdownIsOver(now - std::exchange(before, now)))
        return;
      for (const auto &link : links_)
        if (link)
          all.push_back({.fd = link->socket(),
                         .events = static_cast<short>(link->hasQueued() ? POLLIN | POLLOUT : POLLIN),
                         .revents = 0});
    }
    ::poll(all.data(), all.size(), kSliceMilliseconds);
    uint64_t wakes = 0;
    (void)!::read(wake_.get(), &wakes, sizeof(wakes));
    noteLocalWait();
    const std::scoped_lock held(mutex_);
    sendHeartbeat(steadySeconds());
    serveLinks();
    changed_.notify_all();
  }
}

/// Whether this rank has sent everything and, on rank 0, all others have left or one has failed. After a
/// failure, a peer that does not receive is not waited for much longer.
bool TcpCommunicator::shutdownIsOver(double seconds) {
  bool isOver = true;
  for (uint32_t place = 0; place < links_.size(); ++place) {
    const Heartbeat &heartbeat = heartbeats_[place];
    if (!links_[place])
      continue;
    const bool waits = isHost() && heartbeat.left == 0 && failure_.empty();
    if (waits && peers_.stalled(place, heartbeat.progress + heartbeat.waits, seconds))
      noteFailure(place, stalledReason(timeout_));
    isOver = isOver && !waits && !links_[place]->hasQueued();
  }
  return isOver || (!failure_.empty() && everyone_.stalled(0, 0, seconds));
}

void TcpCommunicator::serveLinks() {
  for (uint32_t place = 0; place < links_.size(); ++place) {
    TcpLink *link = links_[place].get();
    if (!link)
      continue;
    const bool isOpen = link->receive(
        [&](const TcpHeader &header, std::span<const std::byte> payload) { handle(place, header, payload); });
    if (isOpen && link->flush())
      continue;
    links_[place].reset();
    if (heartbeats_[place].left == 0 && own().left == 0)
      noteFailure(place, kGoneReason);
  }
}

void TcpCommunicator::sendHeartbeat(double now) {
  if (now - lastHeartbeat_ < std::min(kMaxHeartbeatSeconds, timeout_ / 8))
    return;
  lastHeartbeat_ = now;
  own().progress = progress_.load(std::memory_order_relaxed);
  if (isHost())
    send({.kind = TcpKind::kHeartbeats, .rank = 0, .channel = 0}, std::as_bytes(std::span(heartbeats_)));
  else
    send({.kind = TcpKind::kHeartbeat, .rank = rank_, .channel = 0}, bytesOfValue(own()));
}

/// Sends to rank 0 or, on rank 0, to all others.
void TcpCommunicator::send(const TcpHeader &header, std::span<const std::byte> payload,
                           std::optional<uint32_t> except) {
  for (uint32_t place = 0; place < links_.size(); ++place)
    if (links_[place] && place != except)
      links_[place]->queue(header, payload);
}

void TcpCommunicator::handle(uint32_t sender, const TcpHeader &header, std::span<const std::byte> payload) {
  const auto channel = static_cast<Channel>(std::min<uint32_t>(header.channel, kBarriers));
  switch (header.kind) {
  case TcpKind::kValue:
    if (const auto message = valueIn<HostMessage>(payload))
      noteValue(sender, channel, *message);
    break;
  case TcpKind::kValues:
    if (Turns &turns = turns_[channel]; payload.size() == turns.messages.size() * sizeof(HostMessage)) {
      std::memcpy(turns.messages.data(), payload.data(), payload.size());
      ++turns.done;
    }
    break;
  case TcpKind::kHeartbeat:
    if (const auto heartbeat = valueIn<Heartbeat>(payload)) {
      const uint32_t left = heartbeats_[sender].left;
      heartbeats_[sender] = *heartbeat;
      heartbeats_[sender].left |= left;
    }
    break;
  case TcpKind::kHeartbeats:
    if (payload.size() == heartbeats_.size() * sizeof(Heartbeat)) {
      const Heartbeat mine = own();
      std::memcpy(heartbeats_.data(), payload.data(), payload.size());
      own() = mine;
    }
    break;
  case TcpKind::kFailure:
    if (isHost())
      send(header, payload, sender);
    if (failure_.empty())
      failure_ = failureText(
          header.rank, std::string_view(reinterpret_cast<const char *>(payload.data()), payload.size()));
    break;
  case TcpKind::kLeft:
    heartbeats_[sender].left = 1;
    break;
  }
}

/// Stores a value; once all ranks have sent theirs, sends all values to every rank.
void TcpCommunicator::noteValue(uint32_t sender, Channel channel, const HostMessage &message) {
  Turns &turns = turns_[channel];
  turns.coming[sender] = message;
  heartbeats_[sender].turns[channel] = turns.done + 1;
  if (++turns.come < ranks())
    return;
  turns.come = 0;
  turns.messages = turns.coming;
  ++turns.done;
  send({.kind = TcpKind::kValues, .rank = 0, .channel = channel}, std::as_bytes(std::span(turns.messages)));
}

void TcpCommunicator::noteFailure(uint32_t rank, std::string_view reason) {
  if (!failure_.empty())
    return;
  reason = reason.substr(0, Communicator::kMaxExchangeBytes);
  failure_ = failureText(rank, reason);
  send({.kind = TcpKind::kFailure, .rank = rank, .channel = 0}, bytesOfText(reason));
}

void TcpCommunicator::wake() const {
  const uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof(one));
}

// --- The thread that drives the communicator ---

Result<DeviceAddress> TcpCommunicator::allocate(std::string_view name, uint64_t bytes) {
  return failed("no memory for '{}' ({} bytes): hosts that meet over TCP exchange no tensors", name, bytes);
}

Ticket TcpCommunicator::start(const Collective & /*barrier*/) { return started_++; }

Status TcpCommunicator::wait(Ticket ticket) {
  for (; barriers_ <= ticket; ++barriers_) {
    tell(kBarriers, HostMessage());
    std::unique_lock held(mutex_);
    if (!waitForTurn(kBarriers, held))
      return failed("rank {}: barrier cannot be completed: {}", rank_, failure_);
  }
  return {};
}

Status TcpCommunicator::exchangeWithPeers(std::span<const std::byte> own, std::span<std::byte> all) {
  HostMessage message;
  message.set(own);
  tell(kHosts, message);
  std::unique_lock held(mutex_);
  const bool agreed = waitForTurn(kHosts, held) &&
                      gatherValues(
                          ranks(), own.size(),
                          [&](uint32_t peer) -> const HostMessage & { return turns_[kHosts].messages[peer]; },
                          [&](uint32_t peer, const std::string &reason) { noteFailure(peer, reason); }, all);
  return agreed ? Status() : failed("rank {}: the ranks cannot agree: {}", rank_, failure_);
}

void TcpCommunicator::tell(Channel channel, const HostMessage &message) {
  {
    const std::scoped_lock held(mutex_);
    if (isHost()) {
      noteValue(rank_, channel, message);
    } else {
      ++own().turns[channel];
      send({.kind = TcpKind::kValue, .rank = rank_, .channel = channel}, bytesOfValue(message));
    }
  }
  wake();
}

/// Waits until all ranks have taken part in this rank's turn; returns false if a rank has failed.
bool TcpCommunicator::waitForTurn(Channel channel, std::unique_lock<std::mutex> &held) {
  const uint32_t turn = own().turns[channel];
  peers_.begin();
  everyone_.begin();
  for (double before = steadySeconds(); turns_[channel].done < turn;) {
    if (!failure_.empty())
      return false;
    changed_.wait_for(held, std::chrono::milliseconds(kSliceMilliseconds));
    if (turns_[channel].done >= turn)
      break; // a rank that has left since took part
    const double now = steadySeconds();
    look(
        now - before, [&](const Heartbeat &heartbeat) { return heartbeat.turns[channel] < turn; },
        kCircleReason);
    before = now;
  }
  return true;
}

Status TcpCommunicator::noteWait(bool begins) {
  {
    const std::scoped_lock held(mutex_);
    const double now = steadySeconds();
    if (begins) {
      peers_.begin();
      everyone_.begin();
      lastLook_ = now;
    }
    look(
        now - lastLook_, [](const Heartbeat &) { return true; }, elsewhereReason(kCircleTimeouts * timeout_));
    lastLook_ = now;
  }
  return failure();
}

/// Finds and fails the rank at fault for a long wait. Rank 0 is checked first: without it this rank receives
/// no news of others.
void TcpCommunicator::look(double seconds, const std::function<bool(const Heartbeat &)> &isMissing,
                           const std::string &circle) {
  ++own().waits;
  uint32_t progress = progress_.load(std::memory_order_relaxed);
  for (uint32_t peer = 0; peer < ranks(); ++peer)
    progress += peer == rank_ ? 0 : heartbeats_[peer].progress;
  const bool allWait = everyone_.stalled(0, progress, seconds);
  for (uint32_t peer = 0; peer < ranks() && failure_.empty(); ++peer) {
    const Heartbeat &heartbeat = heartbeats_[peer];
    const bool isStalled = peers_.stalled(peer, heartbeat.progress + heartbeat.waits, seconds);
    if (peer == rank_ || !isMissing(heartbeat))
      continue;
    if (isStalled || allWait || heartbeat.left != 0)
      noteFailure(heartbeat.left == 0 && !isStalled && circle != kCircleReason ? rank_ : peer,
                  heartbeat.left != 0 ? kLeftReason
                  : isStalled         ? stalledReason(timeout_)
                                      : circle);
  }
}

void TcpCommunicator::fail(std::string_view reason) {
  {
    const std::scoped_lock held(mutex_);
    noteFailure(rank_, reason);
  }
  wake();
}

Status TcpCommunicator::failure() const {
  const std::scoped_lock held(mutex_);
  return failure_.empty() ? Status() : failed("{}", failure_);
}

} // namespace trainc
