#include "runtime/comm/mpi/job.h"

#include <array>

namespace trainc {

Status MpiJob::start() {
  int started = 0;
  MPI_Initialized(&started);
  if (started != 0)
    return failed("MPI has been opened in this process already");
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided); // without success it ends the process
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

void MpiJob::end() {
  MPI_Comm_free(&data_);
  MPI_Comm_free(&control_);
  MPI_Finalize();
}

std::string mpiError(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  return {text.data(), static_cast<size_t>(length)};
}

} // namespace trainc
