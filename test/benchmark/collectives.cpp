// How long collectives take, and how long a barrier, the best of some rounds:
//
//   collectives RANKS MIB            ranks as processes of this host (comm/local)
//   mpirun -n RANKS collectives MIB  over MPI (comm/mpi)
#include "base/clock.h"
#include "runtime/comm/local/local_group.h"
#include "runtime/comm/mpi/mpi_group.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

namespace trainc {
namespace {

constexpr int kRounds = 20;

/// The best time of a collective on this rank, between barriers; negative where one fails.
double bestSeconds(Communicator &rank, const Collective &collective) {
  double best = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    if (!rank.barrier().ok())
      return -1;
    const double begin = steadySeconds();
    if (!rank.wait(rank.start(collective)).ok())
      return -1;
    best = std::min(best, steadySeconds() - begin);
  }
  return best;
}

int measure(Communicator &rank, uint64_t bytes) {
  const uint64_t part = bytes / rank.ranks();
  const DeviceAddress whole = *rank.allocate("whole", bytes), mine = *rank.allocate("part", part);
  std::memset(whole.pointer(), 0x3f, bytes); // pages of its own
  std::memset(mine.pointer(), 0x3f, part);
  const uint64_t elements = bytes / sizeof(float);
  const CollectiveRange inPlace{.source = whole, .destination = whole, .elements = elements},
      toPart{.source = whole, .destination = mine, .elements = elements},
      fromPart{.source = whole + rank.rank() * part, .destination = whole, .elements = elements};
  const Collective all[] = {{.kind = MeetingKind::kAllReduce, .ranges = std::span(&inPlace, 1)},
                            {.kind = MeetingKind::kReduceScatter, .ranges = std::span(&toPart, 1)},
                            {.kind = MeetingKind::kAllGather, .ranges = std::span(&fromPart, 1)},
                            {.kind = MeetingKind::kBarrier}};
  for (const Collective &collective : all) {
    const double seconds = bestSeconds(rank, collective);
    if (seconds < 0)
      return 1;
    if (rank.rank() == 0)
      (void)std::printf("%-15s %8.3f ms\n", collectiveName(collective.kind), seconds * 1e3);
  }
  return rank.barrier().exitCode();
}

int measureLocal(uint32_t ranks, uint64_t bytes) {
  const auto group = LocalGroup::create(Mesh({{"shard", ranks}}), 2 * bytes + 4096, {});
  if (!group.ok())
    return 1;
  for (uint32_t number = 0; number < ranks; ++number)
    if (fork() == 0) {
      const auto rank = group->communicator(number);
      const int code = rank.ok() ? measure(**rank, bytes) : 1;
      (void)std::fflush(stdout);
      _exit(code);
    }
  int worst = 0;
  for (int status = 0; wait(&status) > 0;)
    worst = std::max(worst, status);
  return worst == 0 ? 0 : 1;
}

/// A multiple of 64 bytes for each of so many ranks.
uint64_t bytesOf(const char *mebibytes, uint64_t ranks) {
  return (std::strtoull(mebibytes, nullptr, 10) << 20) / (64 * ranks) * (64 * ranks);
}

int run(int argc, char **argv) {
  if (argc == 3) {
    const auto ranks = static_cast<uint32_t>(std::strtoul(argv[1], nullptr, 10));
    return ranks == 0 ? 2 : measureLocal(ranks, bytesOf(argv[2], ranks));
  }
  if (argc != 2)
    return 2;
  const auto rank = openMpi();
  if (!rank.ok()) {
    (void)std::fprintf(stderr, "%s\n", rank.status().message().c_str());
    return 1;
  }
  return measure(**rank, bytesOf(argv[1], (*rank)->ranks()));
}

} // namespace
} // namespace trainc

int main(int argc, char **argv) { return trainc::run(argc, argv); }
