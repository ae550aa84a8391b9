#include "runtime/comm/mpi/exchange.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace trainc {

namespace {

constexpr int kPostingTag = 0;

/// A tag above kPostingTag and within what every MPI allows, of what sends and receives must agree about:
/// what a rank with another plan sends is not received in place of what is meant.
int dataTag(const Collective &collective) {
  uint64_t bits = collective.elements;
  for (const uint64_t more : {uint64_t(collective.kind), uint64_t(collective.group),
                              uint64_t(collective.dtype), uint64_t{collective.root}})
    bits = (bits ^ more) * 0x9e3779b97f4a7c15U;
  return 1 + static_cast<int>(bits >> 50);
}

/// Sleeps longer the longer nothing happens: the cores are for computation.
class Patience {
public:
  void pause() {
    constexpr int kYields = 50, kLongest = 1000;
    if (++pauses_ <= kYields)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(std::min(10 * (pauses_ - kYields), kLongest)));
  }

private:
  int pauses_ = 0;
};

} // namespace

Exchange::Exchange(const MpiJob &job, MpiPeers &peers)
    : job_(job), peers_(peers), postings_(2 * size_t{job.ranks()}, MPI_REQUEST_NULL),
      done_(2 * size_t{job.ranks()}) {
  rounds_.fill(postings_);
}

bool Exchange::open(const Collective &collective, Members members) {
  if (peers_.hasFailed())
    return false; // and requests may be left from before
  members_ = members;
  tag_ = dataTag(collective);
  mine_ = {collective.kind, collective.group, collective.dtype, collective.root, collective.elements};
  first_ = mine_;
  if (members_.first != job_.rank())
    check(MPI_Irecv(&first_, sizeof first_, MPI_BYTE, rankAt(0), kPostingTag, job_.data(),
                    &toReceive(postings_, 0)));
  else
    for (uint32_t place = 1; place < members_.count; ++place)
      check(MPI_Isend(&mine_, sizeof mine_, MPI_BYTE, rankAt(place), kPostingTag, job_.data(),
                      &toSend(postings_, place)));
  return true;
}

bool Exchange::agreed() {
  if (!finish(postings_))
    return false;
  if (mine_ == first_)
    return true;
  peers_.fail(job_.rank(),
              fmt::format("its plan differs: it started {} where rank {} started {}",
                          describe(collectiveOf(mine_)), members_.first, describe(collectiveOf(first_))));
  return false;
}

Collective Exchange::collectiveOf(const Posting &posting) {
  return {.kind = posting.kind,
          .group = posting.group,
          .dtype = posting.dtype,
          .elements = posting.elements,
          .root = posting.root};
}

void Exchange::send(uint64_t round, uint32_t place, const std::byte *data, uint64_t bytes) {
  if (bytes > 0)
    check(MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, rankAt(place), tag_, job_.data(),
                    &toSend(rounds_[round % 2], place)));
}

void Exchange::receive(uint64_t round, uint32_t place, std::byte *data, uint64_t bytes) {
  if (bytes > 0)
    check(MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, rankAt(place), tag_, job_.data(),
                    &toReceive(rounds_[round % 2], place)));
}

void Exchange::meet(uint64_t round, uint32_t place) {
  Requests &requests = rounds_[round % 2];
  check(MPI_Irecv(nullptr, 0, MPI_BYTE, rankAt(place), tag_, job_.data(), &toReceive(requests, place)));
  check(MPI_Isend(nullptr, 0, MPI_BYTE, rankAt(place), tag_, job_.data(), &toSend(requests, place)));
}

bool Exchange::finish(uint64_t round) { return agreed() && finish(rounds_[round % 2]); }

bool Exchange::finish(Requests &requests) {
  peers_.beginWait();
  for (Patience patience; !peers_.hasFailed();) {
    int completed = 0;
    if (!check(MPI_Testsome(static_cast<int>(2 * members_.count), requests.data(), &completed, done_.data(),
                            MPI_STATUSES_IGNORE)))
      return false;
    if (completed == MPI_UNDEFINED) // none was left
      return true;
    peers_.service();
    if (completed > 0) {
      peers_.noteProgress();
      patience = {};
      continue;
    }
    peers_.noteWait([&](uint32_t rank) { return isMissing(requests, rank); });
    patience.pause();
  }
  return false;
}

/// Whether something to or from the rank is outstanding.
bool Exchange::isMissing(const Requests &requests, uint32_t rank) const {
  for (uint32_t place = 0; place < members_.count; ++place)
    if (members_.rankAt(place) == rank)
      return requests[place] != MPI_REQUEST_NULL || requests[members_.count + place] != MPI_REQUEST_NULL;
  return false;
}

/// Whether MPI did what it was asked for; where not, this rank is failed.
bool Exchange::check(int code) {
  if (code == MPI_SUCCESS)
    return true;
  peers_.fail(job_.rank(), "MPI: " + mpiError(code));
  return false;
}

} // namespace trainc
