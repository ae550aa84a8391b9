// Rank 0's side of joining processes without a common parent.
#pragma once

#include "runtime/comm/local/local_group.h"
#include "runtime/comm/local/local_join.h"
#include "runtime/comm/local/local_socket.h"
#include "runtime/comm/local/shared_memory.h"

#include <vector>

namespace trainc {

/// Listens on a socket named after the job until all ranks have come; then sends all of them the shared
/// memory, or the reason why they cannot run. If they cannot, waits a few seconds at most for further ranks.
class LocalHost {
public:
  LocalHost(const LocalPlace &place, const Mesh &mesh, uint64_t bytesPerRank);

  /// See LocalGroup::join() and LocalGroup::decline().
  Result<std::shared_ptr<SharedMemory>> run();
  void decline(std::string_view reason);

private:
  /// A rank that has joined.
  struct JoinedRank {
    Handshake handshake{};
    std::string reason; ///< reason why the rank cannot take part; else empty
    Descriptor socket;
  };

  Status gather();
  void receive(IncomingConnection connection);
  void admit(JoinedRank rank);
  Status tooFewHaveCome(uint32_t ofOtherUsers) const;
  Status askOther() const;
  Status nameIsTaken() const;
  Status checkJob(const Handshake &handshake) const;
  Status check(const JoinedRank &rank) const;
  void answer(std::string_view text, int file) const;
  Status refuse(Status status) const;

  const LocalPlace &place_;
  Mesh mesh_;
  uint64_t bytesPerRank_;
  double deadline_;
  Status declined_; ///< error of this rank, if it cannot run; then it answers each rank at once
  Status problem_;  ///< why the ranks that have joined cannot run
  std::vector<JoinedRank> joined_; ///< in order of arrival
  uint32_t ofOtherJobs_ = 0;       ///< number of rejected ranks of other jobs
};

} // namespace trainc
