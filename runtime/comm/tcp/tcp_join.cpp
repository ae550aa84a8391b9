#include "runtime/comm/tcp/tcp_join.h"

#include "base/clock.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <poll.h>
#include <set>
#include <sys/socket.h>
#include <thread>

namespace trainc {

namespace {

constexpr auto kBetweenTries = std::chrono::milliseconds(50);
/// Timeout of one connection until the other end has authenticated itself.
constexpr double kHandshakeSeconds = 5;
/// Maximum further wait of rank 0 for missing ranks, once it knows that the ranks cannot run. Ranks that come
/// in this time are told the reason.
constexpr double kGraceSeconds = 3;
constexpr size_t kMaxPending = 256; ///< maximum number of connections before their handshake message
constexpr size_t kMaxWarnings = 8;  ///< maximum number of hosts that rank 0 warns about
/// Maximum number of attempts of a rank whose connections rank 0 closes, and timeout of each attempt after
/// the first. Rank 0 closes a slow connection in favour of others.
constexpr int kMaxAttempts = 4;
constexpr double kAgainSeconds = 1;
constexpr size_t kMaxReason = 1000;              ///< maximum length of a reason, with its terminating zero
constexpr uint64_t kMagic = 0x74726169'6e630002; ///< identifies this protocol, its version and byte order

/// Handshake: rank 0's challenge, the answer of a rank, and rank 0's reply once all have come. Each code
/// covers the other side's nonce, so that it cannot be replayed. The structs are sent as they are in memory:
/// all ranks run on x86-64, which is little-endian.
struct Challenge {
  uint64_t magic = kMagic;
  TcpDigest nonce{};
};
struct Handshake {
  uint64_t magic = kMagic;
  uint32_t rank = 0, ranks = 0;
  uint64_t fingerprint = 0;
  TcpDigest nonce{};
  std::array<char, kMaxReason> reason{}; ///< reason why the rank cannot take part; empty otherwise
};
struct HandshakeWithCode {
  Handshake handshake;
  TcpDigest code{};
};
struct Welcome {
  std::array<char, kMaxReason> refusal{}; ///< exit code and reason if the ranks cannot run; empty otherwise
};
struct WelcomeWithCode {
  Welcome welcome;
  TcpDigest code{};
};
static_assert(sizeof(Challenge) == 8 + sizeof(TcpDigest));
static_assert(sizeof(HandshakeWithCode) == 24 + kMaxReason + 2 * sizeof(TcpDigest));
static_assert(sizeof(WelcomeWithCode) == kMaxReason + sizeof(TcpDigest));

/// Copies `text`, or its beginning, with a terminating zero.
std::array<char, kMaxReason> reasonOf(std::string_view text) {
  std::array<char, kMaxReason> reason{};
  std::ranges::copy(text.substr(0, reason.size() - 1), reason.begin());
  return reason;
}
std::string textOf(const std::array<char, kMaxReason> &reason) {
  return {reason.begin(), std::ranges::find(reason, '\0')};
}

TcpDigest codeOf(const TcpPlace &place, const Handshake &handshake, const TcpDigest &challenge) {
  return authenticate(bytesOfText(place.secret), {bytesOfText("rank"), challenge, bytesOfValue(handshake)});
}
TcpDigest codeOf(const TcpPlace &place, const Welcome &welcome, const TcpDigest &challenge) {
  return authenticate(bytesOfText(place.secret), {bytesOfText("host"), challenge, bytesOfValue(welcome)});
}
TcpDigest keyOf(const TcpPlace &place, const TcpDigest &hosts, const TcpDigest &ranks) {
  return authenticate(bytesOfText(place.secret), {bytesOfText("key."), hosts, ranks});
}

struct FreeAddresses {
  void operator()(addrinfo *list) const { freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Result<Addresses> resolve(const TcpPlace &place) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo *list = nullptr;
  const int code = getaddrinfo(place.address.c_str(), std::to_string(place.port).c_str(), &hints, &list);
  if (code != 0)
    return invalidInput("MASTER_ADDR={}: no such host: {}", place.address, gai_strerror(code));
  return Addresses(list);
}

Descriptor openSocket(const addrinfo &address) {
  return Descriptor(
      ::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, address.ai_protocol));
}

bool waitFor(int socket, short events, double deadline) {
  for (;;) {
    const double left = deadline - steadySeconds();
    if (left <= 0)
      return false;
    pollfd each{.fd = socket, .events = events, .revents = 0};
    const int ready = ::poll(&each, 1, static_cast<int>(left * 1000) + 1);
    if (ready > 0)
      return true;
    if (ready < 0 && errno != EINTR)
      return false;
  }
}

/// Returns whether the socket was connected. A firewall that drops packets makes this wait until the
/// deadline.
bool connectTo(const addrinfo &address, int socket, double deadline) {
  if (::connect(socket, address.ai_addr, address.ai_addrlen) == 0)
    return true;
  if (errno != EINPROGRESS || !waitFor(socket, POLLOUT, deadline))
    return false;
  int error = 0;
  socklen_t bytes = sizeof(error);
  return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &bytes) == 0 && error == 0;
}

template <typename Value> bool sendValue(int socket, const Value &value, double deadline) {
  std::span<const std::byte> left = bytesOfValue(value);
  while (!left.empty()) {
    const ssize_t sent = ::send(socket, left.data(), left.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && ((errno != EAGAIN && errno != EINTR) || !waitFor(socket, POLLOUT, deadline)))
      return false;
    left = left.subspan(static_cast<size_t>(std::max<ssize_t>(sent, 0)));
  }
  return true;
}

template <typename Value> bool receiveValue(int socket, Value &value, double deadline) {
  std::span<std::byte> left = std::as_writable_bytes(std::span(&value, 1));
  while (!left.empty()) {
    if (!waitFor(socket, POLLIN, deadline))
      return false;
    const ssize_t got = ::recv(socket, left.data(), left.size(), MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
      return false;
    left = left.subspan(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  }
  return true;
}

/// Numeric address, such as 10.0.0.7.
std::string hostOf(const sockaddr *address, socklen_t bytes) {
  std::array<char, NI_MAXHOST> text{};
  const int code = getnameinfo(address, bytes, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
  return code == 0 ? text.data() : "an unknown address";
}

// --- Connections to rank 0 ---

/// Returns a connection to one of the addresses, or none if nobody listens there.
Descriptor connectToAny(const Addresses &addresses, double deadline) {
  for (const addrinfo *each = addresses.get(); each; each = each->ai_next) {
    Descriptor socket = openSocket(*each);
    if (socket && connectTo(*each, socket.get(), std::min(deadline, steadySeconds() + kHandshakeSeconds)))
      return socket;
  }
  return {};
}

struct ChallengedConnection {
  Descriptor socket;
  Challenge challenge;
};

/// Repeats connecting until a connection is challenged. Rank 0 challenges each connection at once. No
/// challenge comes if rank 0 does not listen yet, if another program listens there, or if others hold all
/// connections.
Result<ChallengedConnection> beChallenged(const TcpPlace &place, double deadline) {
  TRAINC_ASSIGN_OR_RETURN(const Addresses addresses, resolve(place));
  for (;;) {
    ChallengedConnection connection{.socket = connectToAny(addresses, deadline), .challenge = {}};
    if (connection.socket && receiveValue(connection.socket.get(), connection.challenge,
                                          std::min(deadline, steadySeconds() + kHandshakeSeconds)))
      return connection;
    if (steadySeconds() < deadline)
      std::this_thread::sleep_for(kBetweenTries);
    else if (connection.socket)
      return failed(
          "rank {}: who listens at {}:{} has not challenged it within {} s: it is not rank 0 of this job, or "
          "others hold all its connections",
          place.rank, place.address, place.port, place.waitSeconds);
    else
      return failed(
          "rank {}: nobody listens at {}:{} within {} s; MASTER_ADDR and MASTER_PORT have to be those of "
          "rank 0's host, and no firewall between",
          place.rank, place.address, place.port, place.waitSeconds);
  }
}

/// A connection to rank 0 over which the rank has sent its handshake message.
struct Introduction {
  Descriptor socket;
  TcpDigest challenge{};
  Handshake handshake;
};

/// Connects to rank 0 and sends the handshake message. `reason` says why this rank cannot take part; empty if
/// it can.
Result<Introduction> introduce(const TcpPlace &place, std::string_view reason, double deadline) {
  TRAINC_ASSIGN_OR_RETURN(ChallengedConnection connection, beChallenged(place, deadline));
  Introduction made{.socket = std::move(connection.socket),
                    .challenge = connection.challenge.nonce,
                    .handshake = {.rank = place.rank,
                                  .ranks = place.ranks,
                                  .fingerprint = place.fingerprint,
                                  .nonce = drawNonce(),
                                  .reason = reasonOf(reason)}};
  if (connection.challenge.magic != kMagic ||
      !sendValue(made.socket.get(),
                 HandshakeWithCode{made.handshake, codeOf(place, made.handshake, made.challenge)}, deadline))
    made.socket = {};
  return made;
}

/// Rank 0's answer: success, or why the ranks cannot run. Nothing if rank 0 has closed the connection or does
/// not know the secret.
std::optional<Status> receiveAnswer(const TcpPlace &place, const Introduction &introduction,
                                    double deadline) {
  WelcomeWithCode answer;
  if (!introduction.socket || !receiveValue(introduction.socket.get(), answer, deadline) ||
      !isSame(answer.code, codeOf(place, answer.welcome, introduction.handshake.nonce)))
    return std::nullopt;
  const std::string refusal = textOf(answer.welcome.refusal);
  if (refusal.empty())
    return Status();
  return Status(refusal[0] == '2' ? StatusCode::kInvalidInput : StatusCode::kFailed, refusal.substr(1));
}

Result<std::vector<TcpMet>> joinHost(const TcpPlace &place) {
  const double deadline = steadySeconds() + place.waitSeconds;
  Result<Introduction> introduction = introduce(place, {}, deadline);
  for (int attempts = 1; introduction.ok(); ++attempts) {
    // This wait is longer than rank 0's, so that rank 0's reason arrives.
    if (const std::optional<Status> answer = receiveAnswer(place, *introduction, deadline + 1)) {
      TRAINC_RETURN_IF_ERROR(*answer);
      std::vector<TcpMet> met;
      met.push_back({std::move(introduction->socket),
                     keyOf(place, introduction->challenge, introduction->handshake.nonce)});
      return met;
    }
    if (attempts == kMaxAttempts)
      break;
    std::this_thread::sleep_for(kBetweenTries);
    Result<Introduction> again = introduce(place, {}, std::min(deadline, steadySeconds() + kAgainSeconds));
    if (!again.ok())
      break; // rank 0 has gone
    introduction = std::move(again);
  }
  if (!introduction.ok())
    return introduction.status();
  return failed("rank {}: who listens at {}:{} is not rank 0 of this job, or knows another secret",
                place.rank, place.address, place.port);
}

// --- Rank 0 ---

class TcpHost {
public:
  explicit TcpHost(const TcpPlace &place) : place_(place), deadline_(steadySeconds() + place.waitSeconds) {}

  Result<std::vector<TcpMet>> run() {
    TRAINC_RETURN_IF_ERROR(listen());
    gather();
    std::vector<TcpMet> met(place_.ranks);
    for (JoinedRank &rank : joined_) {
      answer(rank);
      if (problem_.ok())
        met[rank.handshake.rank] = {std::move(rank.socket),
                                    keyOf(place_, rank.challenge, rank.handshake.nonce)};
    }
    TRAINC_RETURN_IF_ERROR(problem_);
    return met;
  }

  void decline(std::string_view reason) {
    reason_ = reason;
    problem_ = cannotRun(0, reason);
    if (listen().ok())
      gather();
  }

private:
  /// A rank that has authenticated itself.
  struct JoinedRank {
    Handshake handshake;
    Descriptor socket;
    TcpDigest challenge{};
  };
  /// A connection before its handshake message.
  struct PendingConnection {
    Descriptor socket;
    std::string address; ///< of its host
    TcpDigest challenge{};
    double until;
    std::vector<std::byte> received = {};
  };

  Status listen() {
    TRAINC_ASSIGN_OR_RETURN(const Addresses addresses, resolve(place_));
    listener_ = openSocket(*addresses);
    const int yes = 1;
    setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (listener_ && ::bind(listener_.get(), addresses->ai_addr, addresses->ai_addrlen) == 0 &&
        ::listen(listener_.get(), static_cast<int>(kMaxPending)) == 0)
      return {};
    const int error = errno;
    TRAINC_RETURN_IF_ERROR(askOtherHost());
    return failed(
        "rank 0 cannot listen at {}:{}: {}; MASTER_ADDR has to be an address of this host, and MASTER_PORT "
        "one that nothing else uses",
        place_.address, place_.port, std::strerror(error));
  }

  /// The answer of a process that already listens as rank 0 of this job; success if another program listens
  /// there.
  Status askOtherHost() const {
    const double deadline = steadySeconds() + kHandshakeSeconds;
    const Result<Introduction> introduction = introduce(place_, reason_, std::min(deadline_, deadline));
    return introduction.ok() ? receiveAnswer(place_, *introduction, deadline).value_or(Status()) : Status();
  }

  /// Waits until all ranks have come. If the ranks cannot run, `problem_` tells why, and the wait is short.
  void gather() {
    while (joined_.size() + 1 < place_.ranks) {
      if (steadySeconds() >= deadline_) {
        if (problem_.ok())
          problem_ = tooFew();
        return;
      }
      waitForConnections();
      acceptConnections();
      for (size_t i = pending_.size(); i-- > 0;)
        if (const std::optional<Handshake> handshake = receive(pending_[i])) // does not block
          admit({*handshake, std::move(pending_[i].socket), pending_[i].challenge});
      std::erase_if(pending_, [](const auto &each) { return !each.socket || steadySeconds() > each.until; });
    }
  }

  void admit(JoinedRank rank) {
    joined_.push_back(std::move(rank));
    if (!reason_.empty())
      return answer(joined_.back());
    if (!problem_.ok())
      return;
    problem_ = check(joined_.back().handshake);
    if (!problem_.ok())
      deadline_ = std::min(deadline_, steadySeconds() + kGraceSeconds);
  }

  void waitForConnections() {
    std::vector<pollfd> all = {{.fd = listener_.get(), .events = POLLIN, .revents = 0}};
    for (const PendingConnection &each : pending_)
      all.push_back({.fd = each.socket.get(), .events = POLLIN, .revents = 0});
    (void)::poll(all.data(), all.size(), 100);
  }

  /// Accepts waiting connections and sends each a challenge. If kMaxPending have not answered, drops the
  /// oldest: a rank answers at once.
  void acceptConnections() {
    for (size_t come = 0; come < kMaxPending; ++come) {
      sockaddr_storage from{};
      socklen_t bytes = sizeof(from);
      auto *address = reinterpret_cast<sockaddr *>(&from);
      PendingConnection connection{
          .socket = Descriptor(::accept4(listener_.get(), address, &bytes, SOCK_CLOEXEC | SOCK_NONBLOCK)),
          .address = hostOf(address, bytes),
          .challenge = drawNonce(),
          .until = steadySeconds() + kHandshakeSeconds};
      if (!connection.socket)
        return;
      if (pending_.size() == kMaxPending)
        pending_.erase(pending_.begin());
      // The send buffer of a new connection has room for the challenge, so this does not block.
      if (sendValue(connection.socket.get(), Challenge{.nonce = connection.challenge}, steadySeconds()))
        pending_.push_back(std::move(connection));
    }
  }

  /// Warns once per host of a wrong secret. Otherwise all would wait, without a message, for a rank that was
  /// started with another secret.
  void warnOf(const std::string &address) {
    if (!place_.warn || warned_.size() >= kMaxWarnings || !warned_.insert(address).second)
      return;
    place_.warn(
        fmt::format("somebody at {} does not know the job's secret, and was turned away; if that is one "
                    "of the ranks, start it with the same TRAINC_SECRET or TRAINC_SECRET_FILE",
                    address));
  }

  /// Receives a part of a connection's handshake message. Returns the message once it is complete, if its
  /// sender knows the secret; disconnects all other senders.
  std::optional<Handshake> receive(PendingConnection &connection) {
    std::array<std::byte, sizeof(HandshakeWithCode)> piece{};
    const ssize_t got = ::recv(connection.socket.get(), piece.data(),
                               piece.size() - connection.received.size(), MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
      connection.socket = {};
    if (got <= 0)
      return std::nullopt;
    connection.received.insert(connection.received.end(), piece.begin(), piece.begin() + got);
    if (connection.received.size() < piece.size())
      return std::nullopt;
    HandshakeWithCode message;
    std::memcpy(&message, connection.received.data(), sizeof(message));
    if (message.handshake.magic == kMagic &&
        isSame(message.code, codeOf(place_, message.handshake, connection.challenge)))
      return message.handshake;
    connection.socket = {};
    warnOf(connection.address);
    return std::nullopt;
  }

  void answer(const JoinedRank &rank) const {
    WelcomeWithCode answer;
    if (!problem_.ok())
      answer.welcome.refusal = reasonOf(std::to_string(problem_.exitCode()) + problem_.message());
    answer.code = codeOf(place_, answer.welcome, rank.handshake.nonce);
    (void)sendValue(rank.socket.get(), answer, steadySeconds() + 1); // an absent peer is detected later
  }

  static Status cannotRun(uint32_t rank, std::string_view reason) {
    return failed("rank {} failed before it joined the others: {}", rank, reason);
  }

  Status check(const Handshake &handshake) const {
    if (const std::string reason = textOf(handshake.reason); !reason.empty())
      return cannotRun(handshake.rank, reason);
    if (handshake.ranks != place_.ranks)
      return invalidInput(
          "WORLD_SIZE: expected the same on all ranks, found {} on rank 0 and {} on rank {}; start "
          "all ranks alike",
          place_.ranks, handshake.ranks, handshake.rank);
    if (handshake.rank >= place_.ranks)
      return invalidInput(
          "RANK: expected a number from 0 to {}, found {}; give each rank a number of its own",
          place_.ranks - 1, handshake.rank);
    const auto isSameRank = [&](const JoinedRank &each) { return each.handshake.rank == handshake.rank; };
    if (handshake.rank == 0 || std::ranges::count_if(joined_, isSameRank) > 1)
      return invalidInput(
          "RANK: expected each number from 0 to {} once, found {} on two processes; give each rank a "
          "number of its own",
          place_.ranks - 1, handshake.rank);
    if (handshake.fingerprint != place_.fingerprint)
      return invalidInput(
          "rank {} runs another plan (checksum {:016x}) than rank 0 ({:016x}); start all ranks with "
          "the same plan file",
          handshake.rank, handshake.fingerprint, place_.fingerprint);
    return {};
  }

  Status tooFew() const {
    std::string missing;
    for (uint32_t rank = 1; rank < place_.ranks; ++rank)
      if (std::ranges::none_of(joined_, [&](const JoinedRank &each) { return each.handshake.rank == rank; }))
        missing += fmt::format("{}{}", missing.empty() ? "" : ", ", rank);
    return failed("of {} ranks these have not come to {}:{} within {} s, or know another secret: {}",
                  place_.ranks, place_.address, place_.port, place_.waitSeconds, missing);
  }

  const TcpPlace &place_;
  double deadline_;
  Descriptor listener_;
  std::vector<JoinedRank> joined_;         ///< in order of arrival
  std::vector<PendingConnection> pending_; ///< in order of arrival
  std::set<std::string> warned_;
  Status problem_;     ///< why the ranks cannot run
  std::string reason_; ///< why this rank cannot take part; then it answers each rank at once
};

} // namespace

Result<std::vector<TcpMet>> meetOverTcp(const TcpPlace &place) {
  TRAINC_ASSIGN_OR_RETURN(std::vector<TcpMet> met, place.rank == 0 ? TcpHost(place).run() : joinHost(place));
  const int yes = 1;
  for (const TcpMet &each : met)
    if (each.socket)
      setsockopt(each.socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  return met;
}

void declineOverTcp(const TcpPlace &place, std::string_view reason) {
  if (place.rank == 0)
    TcpHost(place).decline(reason);
  else
    (void)introduce(place, reason, steadySeconds() + place.waitSeconds);
}

} // namespace trainc
