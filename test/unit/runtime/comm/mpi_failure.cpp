// A rank of a job in which rank 1 fails as the argument says, before MPI starts ("late-...") or later; the
// others print the errors of their waits.
#include "base/clock.h"
#include "runtime/comm/mpi/mpi_group.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <string_view>
#include <unistd.h>

namespace trainc {
namespace {

constexpr uint64_t kElements = 1000;

bool stopsAtTheEnd = false;

void misbehaveAlone(std::string_view how) {
  if (how == "stop")
    (void)raise(SIGSTOP);
  else if (how == "kill")
    (void)raise(SIGKILL);
  else if (how == "hang")
    for (;;)
      pause();
}

void misbehave(Communicator &communicator, std::string_view how) {
  if (how == "fail")
    communicator.fail("no space left on device");
  else
    misbehaveAlone(how);
}

CollectiveRange inPlace(DeviceAddress values, uint64_t elements) {
  return {.source = values, .destination = values, .elements = elements};
}

Ticket allReduce(Communicator &communicator, const CollectiveRange &range) {
  return communicator.start({.kind = MeetingKind::kAllReduce, .ranges = std::span(&range, 1)});
}

/// Waits for the others by means of its own, as for a device that is at a collective.
Status waitElsewhere(Communicator &communicator) {
  for (bool begins = true;; begins = false) {
    TRAINC_RETURN_IF_ERROR(communicator.noteWait(begins));
    usleep(1000);
  }
}

int say(const Status &status, double before) {
  (void)std::printf("%.1f s: %s\n", steadySeconds() - before,
                    status.ok() ? "done" : status.message().c_str());
  (void)std::fflush(stdout);
  return status.exitCode();
}

int run(std::string_view how) {
  CollectiveRange whole, half; // outlive the communicator, which may end before its collectives
  const bool isLate = how.starts_with("late-");
  const char *rank = std::getenv("OMPI_COMM_WORLD_RANK"); // MPI does not say so yet
  if (isLate && rank && std::string_view(rank) == "1")
    misbehaveAlone(how.substr(5));
  auto opened = openMpi({.timeoutSeconds = 1, .startSeconds = isLate ? 2.0 : 60.0});
  if (!opened.ok()) {
    (void)std::fprintf(stderr, "%s\n", opened.status().message().c_str());
    return 1;
  }
  if (how.ends_with("kill"))
    (void)std::signal(SIGTERM, SIG_IGN); // sent by the launcher to the remaining processes
  Communicator &communicator = **opened;
  const DeviceAddress values = *communicator.allocate("values", kElements * sizeof(float));
  whole = inPlace(values, kElements);
  half = inPlace(values, kElements / 2);
  const double before = steadySeconds();
  // Rank 1 may be done with it, and fail, before others have returned from their wait.
  if (const Status first = communicator.wait(allReduce(communicator, whole)); !first.ok())
    return say(first, before);
  const bool isOdd = communicator.rank() == 1;
  stopsAtTheEnd = isOdd && how == "end-stop";
  if (isOdd)
    misbehave(communicator, how);
  if (how.starts_with("elsewhere-")) {
    if (isOdd)
      misbehave(communicator, how.substr(10));
    return say(waitElsewhere(communicator), before);
  }
  if (isOdd && how == "end")
    return 0;
  if (isOdd && how == "slow") // at work for longer than the timeout
    for (; steadySeconds() < before + 2; usleep(1000))
      communicator.noteProgress();
  if (isOdd && how == "wait") { // for something of its own
    const Communicator::LocalWait time(&communicator);
    sleep(3);
  }
  const Ticket second = allReduce(communicator, isOdd && how == "differ" ? half : whole);
  if (isOdd && how == "leave")
    return 0; // without the wait
  return say(communicator.wait(second), before);
}

} // namespace
} // namespace trainc

/// In place of MPI's, for which MPI has a second name.
extern "C" __attribute__((visibility("default"))) int MPI_Finalize() {
  if (trainc::stopsAtTheEnd)
    (void)raise(SIGSTOP);
  return reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "PMPI_Finalize"))();
}

int main(int argc, char **argv) { return trainc::run(argc > 1 ? argv[1] : ""); }
