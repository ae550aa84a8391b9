#include "runtime/comm/mpi/mpi_hosts.h"

namespace trainc {

namespace {

/// A tag distinct from that of the heartbeats.
constexpr int kHostsTag = 1;

} // namespace

void MpiHosts::post(std::span<const std::byte> own) {
  values_[job_.rank()].set(own);
  state_.store(State::kPosted, std::memory_order_release);
}

bool MpiHosts::wait() {
  State state = state_.load(std::memory_order_acquire);
  for (; state == State::kPosted || state == State::kInFlight; state = state_.load(std::memory_order_acquire))
    state_.wait(state, std::memory_order_acquire);
  return state == State::kDone;
}

int MpiHosts::advance() {
  if (state_.load(std::memory_order_acquire) == State::kPosted)
    if (const int code = begin(); code != MPI_SUCCESS)
      return code;
  if (!isInFlight())
    return MPI_SUCCESS;
  int count = 0;
  if (const int code = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count,
                                    completed_.data(), MPI_STATUSES_IGNORE);
      code != MPI_SUCCESS)
    return code;
  if (count == MPI_UNDEFINED) // no active request remains
    end(State::kDone);
  return MPI_SUCCESS;
}

int MpiHosts::begin() {
  ++begun_;
  state_.store(State::kInFlight, std::memory_order_release);
  int code = MPI_SUCCESS;
  for (uint32_t peer = 0; peer < job_.ranks() && code == MPI_SUCCESS; ++peer) {
    if (peer == job_.rank())
      continue;
    code = MPI_Irecv(&values_[peer], sizeof(HostMessage), MPI_BYTE, static_cast<int>(peer), kHostsTag,
                     job_.control(), &requests_[peer]);
    if (code == MPI_SUCCESS)
      code = MPI_Isend(&values_[job_.rank()], sizeof(HostMessage), MPI_BYTE, static_cast<int>(peer),
                       kHostsTag, job_.control(), &requests_[job_.ranks() + peer]);
  }
  return code;
}

bool MpiHosts::isMissing(uint32_t rank) const {
  return isInFlight() &&
         (requests_[rank] != MPI_REQUEST_NULL || requests_[job_.ranks() + rank] != MPI_REQUEST_NULL);
}

void MpiHosts::abandon() {
  const State state = state_.load(std::memory_order_acquire);
  if (state == State::kPosted || state == State::kInFlight)
    end(State::kFailed);
}

void MpiHosts::end(State state) {
  state_.store(state, std::memory_order_release);
  state_.notify_all();
}

} // namespace trainc
