#include "runtime/comm/mpi/entry.h"

#include "runtime/comm/mpi/mpi_communicator.h"

/// See kMpiEntry.
extern "C" __attribute__((visibility("default"))) void
traincOpenMpi(const trainc::MpiOptions &options, std::unique_ptr<trainc::Communicator> &communicator,
              trainc::Status &status);

void traincOpenMpi(const trainc::MpiOptions &options, std::unique_ptr<trainc::Communicator> &communicator,
                   trainc::Status &status) {
  status = trainc::MpiCommunicator::create(options, communicator);
}
