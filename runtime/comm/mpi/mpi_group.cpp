#include "runtime/comm/mpi/mpi_group.h"

#include "runtime/comm/mpi/entry.h"

#include <array>
#include <dlfcn.h>
#include <string>
#include <unistd.h>

namespace trainc {

namespace {

/// Path of the MPI library: beside the running program, or in the package's folder.
std::string libraryFile() {
  std::array<char, 4096> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  const std::string program(path.data(), length > 0 ? static_cast<size_t>(length) : 0);
  const std::string folder = program.substr(0, program.rfind('/'));
  const std::string installed = fmt::format("{}/../lib/trainc/{}", folder, kMpiLibrary);
  return access(installed.c_str(), F_OK) == 0 ? installed : fmt::format("{}/{}", folder, kMpiLibrary);
}

} // namespace

Result<std::unique_ptr<Communicator>> openMpi(const JobOptions &options) {
  const std::string file = libraryFile();
  // RTLD_GLOBAL, because some MPI libraries load plugins that look up its symbols. Never unloaded: MPI cannot
  // be initialised twice.
  void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr)
    return failed("cannot use MPI: {}; it needs {} beside the program or in ../lib/trainc (the package "
                  "trainc-comm-mpi has it), and the MPI library that this was built with",
                  dlerror(), kMpiLibrary);
  const auto entry = reinterpret_cast<MpiEntry>(dlsym(library, kMpiEntry));
  if (entry == nullptr)
    return failed("cannot use MPI: {} is of another version: {}", file, dlerror());
  std::unique_ptr<Communicator> communicator;
  Status status;
  entry(options, communicator, status);
  TRAINC_RETURN_IF_ERROR(status);
  return communicator;
}

} // namespace trainc
