// Rank 0 among processes that have no parent in common: it waits for the others.
#pragma once

#include "runtime/comm/local/local_group.h"
#include "runtime/comm/local/local_join.h"
#include "runtime/comm/local/local_socket.h"
#include "runtime/comm/local/shared_memory.h"

#include <vector>

namespace trainc {

/// Listens on a socket named after the job, until all ranks have come; then all get the memory, or hear why
/// they cannot run.
class LocalHost {
public:
  LocalHost(const LocalPlace &place, Grid grid, uint64_t bytesPerRank);

  /// See LocalGroup::join() and LocalGroup::decline().
  Result<std::shared_ptr<SharedMemory>> run();
  void decline(std::string_view reason);

private:
  /// A rank that has come.
  struct Guest {
    Hello hello{};
    std::string reason; ///< why it cannot take part; else empty
    Descriptor socket;
  };

  Status gather();
  void receive(Visitor visitor);
  Status tooFewHaveCome(uint32_t ofOtherUsers) const;
  Status askOther() const;
  Status nameIsTaken() const;
  Status checkJob(const Hello &hello) const;
  Status checkAll();
  Status check(const Hello &hello, std::vector<bool> &known);
  void answer(std::string_view text, int file) const;
  Status refuse(Status status) const;

  const LocalPlace &place_;
  Grid grid_;
  uint64_t bytesPerRank_;
  double deadline_;
  Status declined_;           ///< why this rank cannot run, if it cannot
  std::vector<Guest> guests_; ///< in the order in which they have come
  uint32_t ofOtherJobs_ = 0;  ///< that have come, and were turned away
};

} // namespace trainc
