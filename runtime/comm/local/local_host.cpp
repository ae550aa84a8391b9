#include "runtime/comm/local/local_host.h"

#include "base/clock.h"
#include "runtime/comm/local/local_join.h"

#include <cstring>

namespace trainc {

namespace {

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
  // Checked only after all have come, so that every rank receives the reason.
  TRAINC_RETURN_IF_ERROR(checkAll());
  Result<std::shared_ptr<SharedMemory>> memory = SharedMemory::create(mesh_, bytesPerRank_);
  if (!memory.ok())
    return refuse(memory.status());
  answer(kWelcome, (*memory)->descriptor());
  return memory;
}

void LocalHost::decline(std::string_view reason) {
  declined_ = cannotRun(0, reason);
  if (gather().ok())
    (void)refuse(declined_);
}

/// Waits until all ranks have come.
Status LocalHost::gather() {
  const std::optional<Descriptor> listener =
      listenLocally(meetingSocketName(place_), static_cast<int>(mesh_.ranks()));
  if (!listener)
    return askOther();
  Reception reception(*listener, sizeof(Handshake) + kLongestText);
  while (guests_.size() + 1 < mesh_.ranks()) {
    std::optional<Visitor> visitor = reception.next(deadline_);
    if (!visitor)
      return refuse(declined_.ok() ? tooFewHaveCome(reception.strangers()) : declined_);
    receive(std::move(*visitor));
  }
  return {};
}

/// Ignores a visitor that sends less than a complete handshake message: it is not a rank.
void LocalHost::receive(Visitor visitor) {
  const std::string &said = visitor.packet.bytes;
  if (said.size() < sizeof(Handshake))
    return;
  Handshake handshake;
  std::memcpy(&handshake, said.data(), sizeof(Handshake));
  if (const Status stranger = checkJob(handshake); !stranger.ok()) {
    tell(visitor.socket, textOf(stranger), -1);
    ++ofOtherJobs_;
    return;
  }
  guests_.push_back({handshake, said.substr(sizeof(Handshake)), std::move(visitor.socket)});
}

Status LocalHost::tooFewHaveCome(uint32_t ofOtherUsers) const {
  return failed("{} of {} ranks have come within {} s{}{}; start all of them on this host, with the "
                "same MASTER_ADDR and MASTER_PORT, or use --comm=mpi for several hosts",
                guests_.size() + 1, mesh_.ranks(), place_.waitSeconds,
                ofOtherJobs_ > 0 ? fmt::format(", and {} of another job", ofOtherJobs_) : "",
                ofOtherUsers > 0 ? fmt::format(", and {} of another user", ofOtherUsers) : "");
}

/// Asks a process that already listens as rank 0 whether it belongs to this job.
Status LocalHost::askOther() const {
  const Connection other = connectLocally(meetingSocketName(place_));
  if (other.stranger)
    return strangerListens(place_, *other.stranger);
  const Status answer =
      other.socket ? greet(other.socket, place_, mesh_, bytesPerRank_, deadline_).status() : Status();
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

Status LocalHost::checkAll() {
  for (const Guest &guest : guests_)
    if (!guest.reason.empty())
      return refuse(cannotRun(guest.handshake.rank, guest.reason));
  std::vector<bool> known(mesh_.ranks());
  known[0] = true;
  for (const Guest &guest : guests_)
    TRAINC_RETURN_IF_ERROR(check(guest.handshake, known));
  return {};
}

Status LocalHost::check(const Handshake &handshake, std::vector<bool> &known) {
  if (handshake.ranks != mesh_.ranks() || handshake.fingerprint != place_.fingerprint ||
      handshake.bytesPerRank != bytesPerRank_)
    return refuse(
        invalidInput("rank {} runs another plan (checksum {:016x}) than rank 0 ({:016x}); start all "
                     "ranks with the same plan file",
                     handshake.rank, handshake.fingerprint, place_.fingerprint));
  if (handshake.rank >= mesh_.ranks() || known[handshake.rank])
    return refuse(invalidInput("two processes of the job '{}' say that they are rank {}; give each a RANK of "
                               "its own, from 0 to {}, and another job another MASTER_PORT",
                               place_.job, handshake.rank, mesh_.ranks() - 1));
  known[handshake.rank] = true;
  return {};
}

/// Sends the reply to all ranks that have come so far.
void LocalHost::answer(std::string_view text, int file) const {
  for (const Guest &guest : guests_)
    tell(guest.socket, text, file);
}

Status LocalHost::refuse(Status status) const {
  answer(textOf(status), -1);
  return status;
}

} // namespace trainc
