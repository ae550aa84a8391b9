#include "runtime/comm/local/local_join.h"

#include "runtime/base/clock.h"
#include "runtime/base/hash.h"
#include "runtime/comm/local/local_socket.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace trainc {

namespace {

/// What a rank says when it comes; behind it, why it cannot take part, if so.
struct Hello {
  uint32_t rank, ranks;
  uint64_t launch; ///< see launchOf()
  uint64_t fingerprint, bytesPerRank;
};

/// A rank that has come.
struct Guest {
  Hello hello{};
  std::string reason; ///< why it cannot take part; else empty
  Descriptor socket;
};

/// What rank 0 answers: this with the memory, or why the ranks cannot run.
constexpr std::string_view kWelcome = "welcome";
constexpr size_t kLongestText = 1000;
constexpr auto kBetweenTries = std::chrono::milliseconds(10);

uint64_t checksum(const std::string &text) { return xxh3(std::as_bytes(std::span(text))); }

/// 0 where a rank knows nothing of the launch.
uint64_t launchOf(const LocalPlace &place) { return place.launch.empty() ? 0 : checksum(place.launch); }

/// Other users' jobs, and other jobs of this user, have other names; one of any length fits.
std::string socketName(const LocalPlace &place) {
  return fmt::format("trainc-{}-{:016x}", ::geteuid(), checksum(place.job));
}

/// Tells rank 0 that this rank has come, and hears what it says.
Result<std::shared_ptr<SharedMemory>> greet(const Descriptor &socket, const LocalPlace &place, Grid grid,
                                            uint64_t bytesPerRank, double deadline) {
  const Hello hello{place.rank, grid.ranks, launchOf(place), place.fingerprint, bytesPerRank};
  sendPacket(socket, std::as_bytes(std::span(&hello, 1)));
  // Rank 0 gives up first, and says why.
  const std::optional<Packet> packet = receivePacket(socket, kLongestText + 1, deadline + 1);
  if (!packet)
    return failed("rank {}: rank 0 ended before all ranks had come", place.rank);
  if (packet->bytes != kWelcome)
    return Status(packet->bytes.front() == '2' ? StatusCode::kInvalidInput : StatusCode::kFailed,
                  packet->bytes.substr(1));
  return SharedMemory::attach(packet->descriptor.get(), grid, bytesPerRank);
}

/// Rank 0's side.
class Host {
public:
  Host(const LocalPlace &place, Grid grid, uint64_t bytesPerRank)
      : place_(place), grid_(grid), bytesPerRank_(bytesPerRank),
        deadline_(steadySeconds() + place.waitSeconds) {}

  Result<std::shared_ptr<SharedMemory>> run() {
    TRAINC_RETURN_IF_ERROR(gather());
    // Only now, so that all hear of it.
    TRAINC_RETURN_IF_ERROR(checkAll());
    const Descriptor file(::memfd_create("trainc", MFD_CLOEXEC));
    Result<std::shared_ptr<SharedMemory>> memory =
        file ? SharedMemory::createIn(file.get(), grid_, bytesPerRank_)
             : failed("cannot share memory with the other ranks: {}", std::strerror(errno));
    if (!memory.ok())
      return refuse(memory.status());
    answer(kWelcome, file.get());
    return memory;
  }

  void decline(std::string_view reason) {
    declined_ = cannotRun(0, reason);
    if (gather().ok())
      (void)refuse(declined_);
  }

private:
  /// Waits until all have come.
  Status gather() {
    const std::optional<Descriptor> listener =
        listenLocally(socketName(place_), static_cast<int>(grid_.ranks));
    if (!listener)
      return askOther();
    for (uint32_t strangers = 0; guests_.size() + 1 < grid_.ranks;) {
      std::optional<Descriptor> guest = acceptLocally(*listener, deadline_);
      std::optional<Packet> packet;
      if (guest)
        packet = receivePacket(*guest, sizeof(Hello) + kLongestText, deadline_);
      if (!packet || packet->bytes.size() < sizeof(Hello))
        return refuse(declined_.ok() ? tooFewHaveCome(strangers) : declined_);
      Hello hello;
      std::memcpy(&hello, packet->bytes.data(), sizeof(Hello));
      if (const Status stranger = checkJob(hello); !stranger.ok()) {
        tell(*guest, textOf(stranger), -1);
        ++strangers;
        continue;
      }
      guests_.push_back({hello, packet->bytes.substr(sizeof(Hello)), std::move(*guest)});
    }
    return {};
  }

  Status tooFewHaveCome(uint32_t strangers) const {
    return failed("{} of {} ranks have come within {} s{}; start all of them on this host, with the "
                  "same MASTER_ADDR and MASTER_PORT, or use --comm=mpi for several hosts",
                  guests_.size() + 1, grid_.ranks, place_.waitSeconds,
                  strangers > 0 ? fmt::format(", and {} of another job", strangers) : "");
  }

  /// Another process says that it is rank 0, and knows whether it is of this job.
  Status askOther() const {
    const std::optional<Descriptor> other = connectLocally(socketName(place_));
    const Status answer = other ? greet(*other, place_, grid_, bytesPerRank_, deadline_).status() : Status();
    return answer.ok() ? nameIsTaken() : answer;
  }

  Status nameIsTaken() const {
    return failed("rank 0 cannot wait for the other ranks: another job of this user on this host is called "
                  "'{}', too (MASTER_PORT); give each job a number of its own",
                  place_.job);
  }

  /// Whether a rank that comes to this job's meeting place is of this job, and not left by an older one.
  Status checkJob(const Hello &hello) const {
    const uint64_t launch = launchOf(place_);
    if (launch != 0 && hello.launch != 0 && hello.launch != launch)
      return invalidInput("rank {} is of another job than rank 0, which has '{}' for itself now ({}); give "
                          "each job a MASTER_PORT of its own",
                          hello.rank, place_.job, place_.launch);
    return hello.rank == 0 && hello.fingerprint != place_.fingerprint ? nameIsTaken() : Status();
  }

  Status checkAll() {
    for (const Guest &guest : guests_)
      if (!guest.reason.empty())
        return refuse(cannotRun(guest.hello.rank, guest.reason));
    std::vector<bool> known(grid_.ranks);
    known[0] = true;
    for (const Guest &guest : guests_)
      TRAINC_RETURN_IF_ERROR(check(guest.hello, known));
    return {};
  }

  static Status cannotRun(uint32_t rank, std::string_view reason) {
    return failed("rank {} failed before it joined the others: {}", rank, reason);
  }

  Status check(const Hello &hello, std::vector<bool> &known) {
    if (hello.ranks != grid_.ranks || hello.fingerprint != place_.fingerprint ||
        hello.bytesPerRank != bytesPerRank_)
      return refuse(
          invalidInput("rank {} runs another plan (checksum {:016x}) than rank 0 ({:016x}); start all "
                       "ranks with the same plan file",
                       hello.rank, hello.fingerprint, place_.fingerprint));
    if (hello.rank >= grid_.ranks || known[hello.rank])
      return refuse(
          invalidInput("two processes of the job '{}' say that they are rank {}; give each a RANK of "
                       "its own, from 0 to {}, and another job another MASTER_PORT",
                       place_.job, hello.rank, grid_.ranks - 1));
    known[hello.rank] = true;
    return {};
  }

  /// Tells all that have come so far.
  void answer(std::string_view text, int file) {
    for (const Guest &guest : guests_)
      tell(guest.socket, text, file);
  }

  static void tell(const Descriptor &socket, std::string_view text, int file) {
    sendPacket(socket, std::as_bytes(std::span(text.substr(0, kLongestText))), file);
  }

  static std::string textOf(const Status &status) {
    return (status.exitCode() == 2 ? "2" : "1") + status.message();
  }

  Status refuse(Status status) {
    answer(textOf(status), -1);
    return status;
  }

  const LocalPlace &place_;
  Grid grid_;
  uint64_t bytesPerRank_;
  double deadline_;
  Status declined_;           ///< why this rank cannot run, if it cannot
  std::vector<Guest> guests_; ///< in the order in which they have come
};

/// Rank 0 may come later.
std::optional<Descriptor> findHost(const std::string &name, double deadline) {
  for (;;) {
    std::optional<Descriptor> socket = connectLocally(name);
    if (socket || steadySeconds() >= deadline)
      return socket;
    std::this_thread::sleep_for(kBetweenTries);
  }
}

Result<std::shared_ptr<SharedMemory>> visit(const LocalPlace &place, Grid grid, uint64_t bytesPerRank) {
  const double deadline = steadySeconds() + place.waitSeconds;
  const std::optional<Descriptor> socket = findHost(socketName(place), deadline);
  if (!socket)
    return failed("rank {}: rank 0 has not come within {} s; start all ranks on this host, with the same "
                  "MASTER_ADDR and MASTER_PORT, or use --comm=mpi for several hosts",
                  place.rank, place.waitSeconds);
  return greet(*socket, place, grid, bytesPerRank, deadline);
}

} // namespace

Result<std::shared_ptr<SharedMemory>> joinSharedMemory(const LocalPlace &place, Grid grid,
                                                       uint64_t bytesPerRank) {
  if (place.rank == 0)
    return Host(place, grid, bytesPerRank).run();
  return visit(place, grid, bytesPerRank);
}

void declineToJoin(const LocalPlace &place, uint32_t ranks, std::string_view reason) {
  if (place.rank == 0)
    return Host(place, {.ranks = ranks}, 0).decline(reason);
  const auto socket = findHost(socketName(place), steadySeconds() + place.waitSeconds);
  if (!socket)
    return;
  const Hello hello{
      .rank = place.rank, .ranks = ranks, .launch = launchOf(place), .fingerprint = 0, .bytesPerRank = 0};
  std::string packet(reinterpret_cast<const char *>(&hello), sizeof(hello));
  packet += reason.substr(0, kLongestText);
  sendPacket(*socket, std::as_bytes(std::span(packet)));
}

} // namespace trainc
