#include "runtime/comm/mpi/job.h"

#include "base/print.h"
#include "base/thread.h"

#include <array>
#include <chrono>
#include <cstdlib>
#include <future>

namespace trainc {

Status MpiJob::start() {
  int started = 0;
  MPI_Initialized(&started);
  if (started != 0)
    return failed("MPI has been opened in this process already");
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided); // ends the process on failure
  if (provided < MPI_THREAD_FUNNELED)
    return failed("this MPI library works in programs of one thread only");
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  rank_ = static_cast<uint32_t>(rank);
  ranks_ = static_cast<uint32_t>(ranks);
  MPI_Comm_dup(MPI_COMM_WORLD, &data_);
  MPI_Comm_dup(MPI_COMM_WORLD, &control_);
  MPI_Comm_set_errhandler(data_, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(control_, MPI_ERRORS_RETURN);
  return {};
}

void MpiJob::end(double seconds) {
  std::promise<void> ended;
  std::thread watch = tryStartThread([this, seconds, future = ended.get_future()] {
    if (future.wait_for(std::chrono::duration<double>(seconds)) == std::future_status::ready)
      return;
    const Status status =
        failed("rank {}: all work is done, but MPI has not ended within {} s: a rank has died "
               "or is stopped, so this one leaves without MPI_Finalize",
               rank_, seconds);
    putMessage(stderr, fmt::format("error: {}\n", status.message()));
    std::_Exit(status.exitCode());
  });
  MPI_Comm_free(&data_);
  MPI_Comm_free(&control_);
  MPI_Finalize();
  ended.set_value();
  if (watch.joinable())
    watch.join();
}

std::string mpiError(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  return {text.data(), static_cast<size_t>(length)};
}

} // namespace trainc
