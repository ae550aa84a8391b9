#include "runtime/comm/mpi/exchange.h"

#include "runtime/comm/mpi/poll_backoff.h"

namespace trainc {

namespace {

constexpr int kPostingTag = 0;

/// MPI tag of the data, above kPostingTag and within the range that every MPI supports. Derived from the
/// fingerprint, so that messages of a rank with another plan do not match.
int dataTag(const CollectiveFingerprint &fingerprint) {
  return 1 + static_cast<int>(fingerprint.digest >> 50);
}

} // namespace

MpiExchange::MpiExchange(const MpiJob &job, const Mesh &mesh, MpiPeers &peers)
    : job_(job), mesh_(mesh), peers_(peers) {}

bool MpiExchange::open(const Collective &collective, Members members) {
  if (peers_.hasFailed())
    return false; // requests of an earlier collective may remain
  members_ = members;
  mine_ = first_ = fingerprintOf(collective);
  tag_ = dataTag(mine_);
  if (members_.first != job_.rank())
    check(MPI_Irecv(&first_, sizeof first_, MPI_BYTE, rankAt(0), kPostingTag, job_.data(), postings_.add(0)));
  else
    for (uint32_t place = 1; place < members_.count; ++place)
      check(MPI_Isend(&mine_, sizeof mine_, MPI_BYTE, rankAt(place), kPostingTag, job_.data(),
                      postings_.add(place)));
  return true;
}

bool MpiExchange::agreed() {
  if (!finish(postings_))
    return false;
  if (mine_ == first_)
    return true;
  const bool ended = mine_.kind == MeetingKind::kShutdown;
  if (ended || first_.kind == MeetingKind::kShutdown)
    peers_.fail(ended ? job_.rank() : members_.first, kLeftReason);
  else
    peers_.fail(job_.rank(), fmt::format("its plan differs: it started {} where rank {} started {}",
                                         describe(mine_, mesh_), members_.first, describe(first_, mesh_)));
  return false;
}

void MpiExchange::send(uint64_t round, uint32_t place, const std::byte *data, uint64_t bytes) {
  sent_.fetch_add(bytes, std::memory_order_relaxed);
  check(MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, rankAt(place), tag_, job_.data(),
                  rounds_[round % 2].add(place)));
}

void MpiExchange::receive(uint64_t round, uint32_t place, std::byte *data, uint64_t bytes) {
  check(MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, rankAt(place), tag_, job_.data(),
                  rounds_[round % 2].add(place)));
}

void MpiExchange::meet(uint64_t round, uint32_t place) {
  receive(round, place, nullptr, 0);
  send(round, place, nullptr, 0);
}

bool MpiExchange::finish(uint64_t round) { return agreed() && finish(rounds_[round % 2]); }

bool MpiExchange::finish(Requests &requests) {
  if (requests.pending.empty())
    return true;
  done_.resize(requests.pending.size());
  peers_.beginWait();
  for (PollBackoff backoff; !peers_.hasFailed();) {
    int completed = 0;
    if (!check(MPI_Testsome(static_cast<int>(requests.pending.size()), requests.pending.data(), &completed,
                            done_.data(), MPI_STATUSES_IGNORE)))
      return false;
    if (completed == MPI_UNDEFINED) { // no active request remains
      requests.clear();
      return true;
    }
    peers_.service();
    if (completed > 0) {
      peers_.noteProgress();
      backoff = {};
      continue;
    }
    peers_.noteWait([&](uint32_t rank) { return isMissing(requests, rank); });
    backoff.pause();
  }
  return false;
}

/// Whether a message to or from the rank is outstanding.
bool MpiExchange::isMissing(const Requests &requests, uint32_t rank) const {
  for (size_t i = 0; i < requests.pending.size(); ++i)
    if (requests.pending[i] != MPI_REQUEST_NULL && members_.rankAt(requests.places[i]) == rank)
      return true;
  return false;
}

/// Returns whether an MPI call succeeded; if not, fails this rank.
bool MpiExchange::check(int code) {
  if (code == MPI_SUCCESS)
    return true;
  peers_.fail(job_.rank(), "MPI: " + mpiError(code));
  return false;
}

} // namespace trainc
