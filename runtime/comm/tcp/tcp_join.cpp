#include "runtime/comm/tcp/tcp_join.h"

#include "base/clock.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
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
constexpr size_t kMaxSilent = 256; ///< maximum number of visitors before their handshake message
constexpr size_t kMaxWarnings = 8; ///< maximum number of hosts that rank 0 warns about
/// Attempts of a rank whose connection rank 0 closes, and timeout of each further one: rank 0 closes the
/// connection of a slow visitor in favour of others.
constexpr int kMaxVisits = 4;
constexpr double kAgainSeconds = 1;
constexpr uint64_t kMagic = 0x74726169'6e630001; ///< identifies this protocol and its version

/// Handshake: rank 0's challenge, the answer of a rank, and rank 0's reply once all have come. Each code
/// covers the other side's nonce, so that it cannot be replayed.
struct Challenge {
  uint64_t magic = kMagic;
  TcpDigest nonce{};
};
struct Handshake {
  uint64_t magic = kMagic;
  uint32_t rank = 0, ranks = 0;
  uint64_t fingerprint = 0;
  TcpDigest nonce{};
};
struct HandshakeWithCode {
  Handshake handshake;
  TcpDigest code{};
};
struct Welcome {
  std::array<char, 256> refusal{}; ///< exit code and reason if the ranks cannot run; empty otherwise
};
struct WelcomeWithCode {
  Welcome welcome;
  TcpDigest code{};
};

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
  return Descriptor(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC, address.ai_protocol));
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

/// "10.0.0.7", the number of a host.
std::string hostOf(const sockaddr *address, socklen_t bytes) {
  std::array<char, NI_MAXHOST> text{};
  const int code = getnameinfo(address, bytes, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
  return code == 0 ? text.data() : "an unknown address";
}

// --- Rank 0 ---

class TcpHost {
public:
  explicit TcpHost(const TcpPlace &place) : place_(place), deadline_(steadySeconds() + place.waitSeconds) {}

  Result<std::vector<TcpMet>> run() {
    TRAINC_RETURN_IF_ERROR(listen());
    Status status = gather();
    std::vector<TcpMet> met(place_.ranks);
    for (const Guest &guest : guests_)
      if (status.ok())
        status = check(guest.handshake);
    for (Guest &guest : guests_) {
      answer(guest, status);
      if (status.ok())
        met[guest.handshake.rank] = {std::move(guest.socket),
                                     keyOf(place_, guest.challenge, guest.handshake.nonce)};
    }
    TRAINC_RETURN_IF_ERROR(status);
    return met;
  }

private:
  struct Guest {
    Handshake handshake;
    Descriptor socket;
    TcpDigest challenge{};
  };
  struct Silent {
    Descriptor socket;
    std::string address; ///< of its host
    TcpDigest challenge{};
    double until;
    std::vector<std::byte> said = {};
  };

  Status listen() {
    TRAINC_ASSIGN_OR_RETURN(const Addresses addresses, resolve(place_));
    listener_ = openSocket(*addresses);
    const int yes = 1;
    setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    ::fcntl(listener_.get(), F_SETFL, O_NONBLOCK); // who has gone again before accept() is not waited for
    if (!listener_ || ::bind(listener_.get(), addresses->ai_addr, addresses->ai_addrlen) != 0 ||
        ::listen(listener_.get(), static_cast<int>(kMaxSilent)) != 0)
      return failed("rank 0 cannot listen at {}:{}: {}; MASTER_ADDR has to be an address of this host, and "
                    "MASTER_PORT one that nothing else uses",
                    place_.address, place_.port, std::strerror(errno));
    return {};
  }

  Status gather() {
    while (guests_.size() + 1 < place_.ranks) {
      if (steadySeconds() >= deadline_)
        return tooFew();
      waitForVisitors();
      acceptVisitors();
      for (size_t i = silent_.size(); i-- > 0;)
        if (const std::optional<Handshake> handshake = hear(silent_[i])) // asks all, and waits for none
          guests_.push_back({*handshake, std::move(silent_[i].socket), silent_[i].challenge});
      std::erase_if(silent_, [](const Silent &each) { return !each.socket || steadySeconds() > each.until; });
    }
    return {};
  }

  void waitForVisitors() {
    std::vector<pollfd> all = {{.fd = listener_.get(), .events = POLLIN, .revents = 0}};
    for (const Silent &each : silent_)
      all.push_back({.fd = each.socket.get(), .events = POLLIN, .revents = 0});
    (void)::poll(all.data(), all.size(), 100);
  }

  /// Challenges all who have come. Where too many are silent the one that has been so for the longest time
  /// has to go: a rank answers at once.
  void acceptVisitors() {
    for (size_t come = 0; come < kMaxSilent; ++come) {
      sockaddr_storage from{};
      socklen_t bytes = sizeof(from);
      auto *address = reinterpret_cast<sockaddr *>(&from);
      Silent visitor{
          .socket = Descriptor(::accept4(listener_.get(), address, &bytes, SOCK_CLOEXEC | SOCK_NONBLOCK)),
          .address = hostOf(address, bytes),
          .challenge = drawNonce(),
          .until = steadySeconds() + kHandshakeSeconds};
      if (!visitor.socket)
        return;
      if (silent_.size() == kMaxSilent)
        silent_.erase(silent_.begin());
      // A new connection has room for it: nothing is waited for.
      if (sendValue(visitor.socket.get(), Challenge{.nonce = visitor.challenge}, steadySeconds()))
        silent_.push_back(std::move(visitor));
    }
  }

  /// Says once of each host that somebody there does not know the secret: it may be a rank that was started
  /// with another one, and all would wait for it without a word.
  void warnOf(const std::string &address) {
    if (!place_.warn || warned_.size() >= kMaxWarnings || !warned_.insert(address).second)
      return;
    place_.warn(
        fmt::format("somebody at {} does not know the job's secret, and was turned away; if that is one "
                    "of the ranks, start it with the same TRAINC_SECRET or TRAINC_SECRET_FILE",
                    address));
  }

  /// The handshake message of a visitor that knows the secret; others are disconnected.
  std::optional<Handshake> hear(Silent &visitor) {
    std::array<std::byte, sizeof(HandshakeWithCode)> piece{};
    const ssize_t got =
        ::recv(visitor.socket.get(), piece.data(), piece.size() - visitor.said.size(), MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
      visitor.socket = {};
    if (got <= 0)
      return std::nullopt;
    visitor.said.insert(visitor.said.end(), piece.begin(), piece.begin() + got);
    if (visitor.said.size() < piece.size())
      return std::nullopt;
    HandshakeWithCode said;
    std::memcpy(&said, visitor.said.data(), sizeof(said));
    if (said.handshake.magic == kMagic &&
        isSame(said.code, codeOf(place_, said.handshake, visitor.challenge)))
      return said.handshake;
    visitor.socket = {};
    warnOf(visitor.address);
    return std::nullopt;
  }

  void answer(const Guest &guest, const Status &status) const {
    WelcomeWithCode answer;
    if (!status.ok()) {
      const std::string text = std::to_string(status.exitCode()) + status.message();
      std::ranges::copy(text.substr(0, answer.welcome.refusal.size() - 1), answer.welcome.refusal.begin());
    }
    answer.code = codeOf(place_, answer.welcome, guest.handshake.nonce);
    (void)sendValue(guest.socket.get(), answer, steadySeconds() + 1); // an absent peer is detected later
  }

  Status check(const Handshake &handshake) const {
    const auto same = [&](const Guest &guest) { return guest.handshake.rank == handshake.rank; };
    if (handshake.ranks != place_.ranks)
      return invalidInput(
          "rank {} says that there are {} ranks, rank 0 says {}; start all with one WORLD_SIZE",
          handshake.rank, handshake.ranks, place_.ranks);
    if (handshake.rank == 0 || handshake.rank >= place_.ranks || std::ranges::count_if(guests_, same) > 1)
      return invalidInput("two ranks say that they are rank {}; give each a RANK of its own", handshake.rank);
    if (handshake.fingerprint != place_.fingerprint)
      return invalidInput("rank {} runs another plan than rank 0; start all ranks with the same",
                          handshake.rank);
    return {};
  }

  Status tooFew() const {
    std::string missing;
    for (uint32_t rank = 1; rank < place_.ranks; ++rank)
      if (std::ranges::none_of(guests_, [&](const Guest &guest) { return guest.handshake.rank == rank; }))
        missing += fmt::format("{}{}", missing.empty() ? "" : ", ", rank);
    return failed("of {} ranks these have not come to {}:{} within {} s, or know another secret: {}",
                  place_.ranks, place_.address, place_.port, place_.waitSeconds, missing);
  }

  const TcpPlace &place_;
  double deadline_;
  Descriptor listener_;
  std::vector<Guest> guests_;  ///< in order of arrival
  std::vector<Silent> silent_; ///< in order of arrival
  std::set<std::string> warned_;
};

// --- Other ranks ---

/// Retries until rank 0 listens.
Result<Descriptor> findTcpHost(const TcpPlace &place, double deadline) {
  TRAINC_ASSIGN_OR_RETURN(const Addresses addresses, resolve(place));
  for (;;) {
    for (const addrinfo *each = addresses.get(); each; each = each->ai_next) {
      Descriptor socket = openSocket(*each);
      if (socket && ::connect(socket.get(), each->ai_addr, each->ai_addrlen) == 0)
        return socket;
    }
    if (steadySeconds() >= deadline)
      return failed(
          "rank {}: nobody listens at {}:{} within {} s; MASTER_ADDR and MASTER_PORT have to be those "
          "of rank 0's host, and no firewall between",
          place.rank, place.address, place.port, place.waitSeconds);
    std::this_thread::sleep_for(kBetweenTries);
  }
}

struct Visit {
  Descriptor socket;
  Challenge challenge;
};

/// Rank 0 challenges a visitor at once. If another program listens there, or rank 0 has no connection left:
/// retry.
Result<Visit> beChallenged(const TcpPlace &place, double deadline) {
  for (;;) {
    Visit visit;
    TRAINC_ASSIGN_OR_RETURN(visit.socket, findTcpHost(place, deadline));
    if (receiveValue(visit.socket.get(), visit.challenge,
                     std::min(deadline, steadySeconds() + kHandshakeSeconds)))
      return visit;
    if (steadySeconds() >= deadline)
      return failed(
          "rank {}: who listens at {}:{} has not challenged it within {} s: it is not rank 0 of this "
          "job, or others hold all its connections",
          place.rank, place.address, place.port, place.waitSeconds);
    std::this_thread::sleep_for(kBetweenTries);
  }
}

/// Result of one visit. `said` is rank 0's answer; empty if rank 0 closed the connection.
struct Answer {
  Visit visit;
  Handshake handshake;
  std::optional<WelcomeWithCode> said;
};

/// Introduces the rank once. Rank 0's deadline is earlier, so that its reason arrives.
Result<Answer> introduce(const TcpPlace &place, double untilChallenged, double deadline) {
  TRAINC_ASSIGN_OR_RETURN(Visit visit, beChallenged(place, untilChallenged));
  Answer answer{.visit = std::move(visit),
                .handshake = {.rank = place.rank,
                              .ranks = place.ranks,
                              .fingerprint = place.fingerprint,
                              .nonce = drawNonce()},
                .said = {}};
  const Challenge &challenge = answer.visit.challenge;
  const int socket = answer.visit.socket.get();
  WelcomeWithCode said;
  if (challenge.magic == kMagic &&
      sendValue(socket, HandshakeWithCode{answer.handshake, codeOf(place, answer.handshake, challenge.nonce)},
                deadline) &&
      receiveValue(socket, said, deadline + 1))
    answer.said = said;
  return answer;
}

Result<std::vector<TcpMet>> visitHost(const TcpPlace &place) {
  const double deadline = steadySeconds() + place.waitSeconds;
  Result<Answer> answer = introduce(place, deadline, deadline);
  for (int visits = 1; visits < kMaxVisits && answer.ok() && !answer->said; ++visits) {
    std::this_thread::sleep_for(kBetweenTries);
    if (Result<Answer> again =
            introduce(place, std::min(deadline, steadySeconds() + kAgainSeconds), deadline);
        again.ok()) // else rank 0 has gone, and what is said below holds
      answer = std::move(again);
  }
  if (!answer.ok())
    return answer.status();
  if (!answer->said ||
      !isSame(answer->said->code, codeOf(place, answer->said->welcome, answer->handshake.nonce)))
    return failed("rank {}: who listens at {}:{} is not rank 0 of this job, or knows another secret",
                  place.rank, place.address, place.port);
  const std::array<char, 256> &refusal = answer->said->welcome.refusal;
  if (refusal[0] != '\0')
    return Status(refusal[0] == '2' ? StatusCode::kInvalidInput : StatusCode::kFailed, refusal.data() + 1);
  std::vector<TcpMet> met;
  met.push_back({std::move(answer->visit.socket),
                 keyOf(place, answer->visit.challenge.nonce, answer->handshake.nonce)});
  return met;
}

} // namespace

Result<std::vector<TcpMet>> meetOverTcp(const TcpPlace &place) {
  TRAINC_ASSIGN_OR_RETURN(std::vector<TcpMet> met, place.rank == 0 ? TcpHost(place).run() : visitHost(place));
  const int yes = 1;
  for (const TcpMet &each : met)
    if (each.socket)
      setsockopt(each.socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  return met;
}

} // namespace trainc
