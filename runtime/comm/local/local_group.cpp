#include "runtime/comm/local/local_group.h"

#include "runtime/comm/local/local_communicator.h"
#include "runtime/comm/local/local_join.h"
#include "runtime/comm/local/shared_memory.h"

namespace trainc {

Result<LocalGroup> LocalGroup::create(const Mesh &mesh, uint64_t bytesPerRank, LocalOptions options) {
  TRAINC_ASSIGN_OR_RETURN(std::shared_ptr<SharedMemory> memory, SharedMemory::create(mesh, bytesPerRank));
  return LocalGroup(std::move(memory), options);
}

Result<LocalGroup> LocalGroup::join(const LocalPlace &place, const Mesh &mesh, uint64_t bytesPerRank,
                                    LocalOptions options) {
  TRAINC_ASSIGN_OR_RETURN(std::shared_ptr<SharedMemory> memory, joinSharedMemory(place, mesh, bytesPerRank));
  return LocalGroup(std::move(memory), options);
}

void LocalGroup::decline(const LocalPlace &place, uint32_t ranks, std::string_view reason) {
  declineToJoin(place, ranks, reason);
}

LocalGroup::LocalGroup(std::shared_ptr<SharedMemory> memory, LocalOptions options)
    : memory_(std::move(memory)), options_(options) {}

Result<std::unique_ptr<Communicator>> LocalGroup::communicator(uint32_t rank) const {
  TRAINC_ASSIGN_OR_RETURN(std::shared_ptr<SharedMemory> view, memory_->viewOf(rank));
  return LocalCommunicator::create(std::move(view), rank, options_.inFlight, options_.timeoutSeconds);
}

void LocalGroup::fail(uint32_t rank, std::string_view reason) const { memory_->fail(rank, reason); }

} // namespace trainc
