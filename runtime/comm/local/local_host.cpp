#include "runtime/comm/local/local_host.h"

#include "base/clock.h"
#include "runtime/comm/local/local_join.h"

#include <algorithm>
#include <cstring>

namespace trainc {

namespace {

/// Maximum further wait for ranks that have not come, once it is known that the ranks cannot run.
constexpr double kGraceSeconds = 3;

void tell(const Descriptor &socket, std::string_view text, int file) {
  sendPacket(socket, std::as_bytes(std::span(text.substr(0, kLongestText))), file);
}

std::string textOf(const Status &status) { return (status.exitCode() == 2 ? "2" : "1") + status.message(); }

Status cannotRun(uint32_t rank, std::string_view reason) {
  return failed("rank {} failed before it joined the others: {}", rank, reason);
}

} // namespace

LocalHost::LocalHost(const LocalPlace &place, const Mesh &mesh, uint64_t bytesPerRank)
    : place_(place), mesh_(mesh), bytesPerRank_(bytesPerRank),
      deadline_(steadySeconds() + place.waitSeconds) {}

Result<std::shared_ptr<SharedMemory>> LocalHost::run() {
  TRAINC_RETURN_IF_ERROR(gather());
  if (!problem_.ok())
    return refuse(problem_);
  Result<std::shared_ptr<SharedMemory>> memory = SharedMemory::create(mesh_, bytesPerRank_);
  if (!memory.ok())
    return refuse(memory.status());
  answer(kWelcome, (*memory)->descriptor());
  return memory;
}

void LocalHost::decline(std::string_view reason) {
  declined_ = cannotRun(0, reason);
  (void)gather();
}

/// Waits until all ranks have come; for a short time only if they cannot run.
Status LocalHost::gather() {
  const std::optional<Descriptor> listener =
      listenLocally(meetingSocketName(place_), static_cast<int>(mesh_.ranks()));
  if (!listener)
    return askOther();
  Acceptor acceptor(*listener, sizeof(Handshake) + kLongestText);
  while (joined_.size() + 1 < mesh_.ranks()) {
    std::optional<IncomingConnection> connection = acceptor.next(deadline_);
    if (!connection)
      return refuse(!declined_.ok()  ? declined_
                    : !problem_.ok() ? problem_
                                     : tooFewHaveCome(acceptor.ofOtherUsers()));
    receive(std::move(*connection));
  }
  return {};
}

/// Ignores a process that sends less than a complete handshake message: it is not a rank.
void LocalHost::receive(IncomingConnection connection) {
  const std::string &message = connection.packet.bytes;
  if (message.size() < sizeof(Handshake))
    return;
  Handshake handshake;
  std::memcpy(&handshake, message.data(), sizeof(Handshake));
  if (const Status otherJob = checkJob(handshake); !otherJob.ok()) {
    tell(connection.socket, textOf(otherJob), -1);
    ++ofOtherJobs_;
    return;
  }
  admit({handshake, message.substr(sizeof(Handshake)), std::move(connection.socket)});
}

void LocalHost::admit(JoinedRank rank) {
  joined_.push_back(std::move(rank));
  if (!declined_.ok())
    return tell(joined_.back().socket, textOf(declined_), -1);
  if (!problem_.ok())
    return;
  problem_ = check(joined_.back());
  if (!problem_.ok())
    deadline_ = std::min(deadline_, steadySeconds() + kGraceSeconds);
}

Status LocalHost::tooFewHaveCome(uint32_t ofOtherUsers) const {
  return failed("{} of {} ranks have come within {} s{}{}; start all of them on this host, with the "
                "same MASTER_ADDR and MASTER_PORT, or use --comm=mpi for several hosts",
                joined_.size() + 1, mesh_.ranks(), place_.waitSeconds,
                ofOtherJobs_ > 0 ? fmt::format(", and {} of another job", ofOtherJobs_) : "",
                ofOtherUsers > 0 ? fmt::format(", and {} of another user", ofOtherUsers) : "");
}

/// Asks a process that already listens as rank 0 whether it belongs to this job.
Status LocalHost::askOther() const {
  const Connection other = connectLocally(meetingSocketName(place_));
  if (other.otherUser)
    return otherUserListens(place_, *other.otherUser);
  const Status answer =
      other.socket ? sendHandshake(other.socket, place_, mesh_, bytesPerRank_, deadline_).status() : Status();
  return answer.ok() ? nameIsTaken() : answer;
}

Status LocalHost::nameIsTaken() const {
  return failed("rank 0 cannot wait for the other ranks: another job of this user on this host is called "
                "'{}', too (MASTER_PORT); give each job a number of its own",
                place_.job);
}

/// Checks that a rank at this job's socket belongs to this launch, not to an older one.
Status LocalHost::checkJob(const Handshake &handshake) const {
  const uint64_t launch = launchOf(place_);
  if (launch != 0 && handshake.launch != 0 && handshake.launch != launch)
    return invalidInput("rank {} is of another job than rank 0, which has '{}' for itself now ({}); give "
                        "each job a MASTER_PORT of its own",
                        handshake.rank, place_.job, place_.launch);
  return handshake.rank == 0 && handshake.fingerprint != place_.fingerprint ? nameIsTaken() : Status();
}

/// Compares the rank that has joined last with this one and with those before.
Status LocalHost::check(const JoinedRank &rank) const {
  const Handshake &handshake = rank.handshake;
  if (!rank.reason.empty())
    return cannotRun(handshake.rank, rank.reason);
  if (handshake.ranks != mesh_.ranks() || handshake.fingerprint != place_.fingerprint ||
      handshake.bytesPerRank != bytesPerRank_)
    return invalidInput(
        "rank {} runs another plan (checksum {:016x}) than rank 0 ({:016x}); start all ranks with "
        "the same plan file",
        handshake.rank, handshake.fingerprint, place_.fingerprint);
  const auto isSameRank = [&](const JoinedRank &each) { return each.handshake.rank == handshake.rank; };
  if (handshake.rank == 0 || handshake.rank >= mesh_.ranks() ||
      std::ranges::count_if(joined_, isSameRank) > 1)
    return invalidInput(
        "two processes of the job '{}' say that they are rank {}; give each a RANK of its own, from "
        "0 to {}, and another job another MASTER_PORT",
        place_.job, handshake.rank, mesh_.ranks() - 1);
  return {};
}

/// Sends the reply to all ranks that have come so far.
void LocalHost::answer(std::string_view text, int file) const {
  for (const JoinedRank &rank : joined_)
    tell(rank.socket, text, file);
}

Status LocalHost::refuse(Status status) const {
  answer(textOf(status), -1);
  return status;
}

} // namespace trainc
