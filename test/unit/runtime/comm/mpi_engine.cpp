// This process as a rank: mpirun -n RANKS runtime_comm_mpi_test RANKS SHARD_RANKS [GoogleTest's options].
#include "runtime/comm/mpi/mpi_group.h"
#include "test/unit/runtime/comm/engine.h"
#include "test/unit/runtime/comm/support.h"

#include <cstdio>
#include <cstdlib>
#include <memory>

namespace trainc::test {

namespace {

/// MPI starts once in a process, so all tests have one communicator.
std::unique_ptr<Communicator> communicator;
Grid grid;

} // namespace

std::vector<Job> jobs() { return {{"mpi", grid}}; }

void onRanks(const Job &job, uint64_t /*bytes*/, const std::function<void(Rank &)> &body) {
  Rank rank(*communicator, job.grid);
  body(rank);
  EXPECT_TRUE(rank->barrier().ok());
}

} // namespace trainc::test

int main(int argc, char **argv) {
  using namespace trainc;
  if (argc > 2)
    test::grid = {static_cast<uint32_t>(std::strtoul(argv[1], nullptr, 10)),
                  static_cast<uint32_t>(std::strtoul(argv[2], nullptr, 10))};
  auto opened = openMpi({.timeoutSeconds = test::kNever, .mesh = test::grid.mesh()});
  if (!opened.ok()) {
    (void)std::fprintf(stderr, "%s\n", opened.status().message().c_str());
    return 1;
  }
  test::communicator = std::move(*opened);
  testing::InitGoogleTest(&argc, argv);
  const int result = RUN_ALL_TESTS();
  test::communicator.reset();
  return result;
}
