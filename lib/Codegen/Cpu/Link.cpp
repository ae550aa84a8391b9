// Linking by lld's ELF driver. The driver needs file names: it gets those of a memory file and of a pipe, so
// that no file is left behind if the program is killed.
#include "lib/Codegen/Cpu/Link.h"

#include "base/memory_file.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/thread.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <optional>
#include <unistd.h>
#include <vector>

LLD_HAS_DRIVER(elf)

using trainc::Descriptor;

static llvm::Error linkError(const llvm::Twine &what) {
  return llvm::createStringError("linking kernels: " + what);
}

/// Returns a name by which an open file can be opened again.
static std::string nameOf(const Descriptor &file) {
  return ("/proc/self/fd/" + llvm::Twine(file.get())).str();
}

static llvm::Expected<Descriptor> fileInMemory(llvm::StringRef bytes) {
  trainc::Result<Descriptor> file = trainc::createMemoryFile("kernels.o");
  if (!file.ok())
    return linkError(file.status().message());
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t written = ::write(file->get(), bytes.data() + done, bytes.size() - done);
    if (written < 0 && errno != EINTR)
      return linkError(llvm::Twine("cannot write to a file in memory: ") + std::strerror(errno));
    done += written > 0 ? size_t(written) : 0;
  }
  return std::move(*file);
}

/// Reads a pipe until all writers have closed it; none after an error.
static std::optional<std::string> readToEnd(const Descriptor &pipe) {
  std::string bytes;
  char piece[1 << 16];
  for (ssize_t got; (got = ::read(pipe.get(), piece, sizeof(piece))) != 0;)
    if (got > 0)
      bytes.append(piece, size_t(got));
    else if (errno != EINTR)
      return std::nullopt;
  return bytes;
}

/// Runs the linker on named inputs; returns its messages if it fails.
static llvm::Error runLinker(llvm::ArrayRef<std::string> inputs, const std::string &output) {
  std::string messages;
  llvm::raw_string_ostream errors(messages);
  std::vector<const char *> args = {"ld.lld",           "-shared",     "-nostdlib",
                                    "--no-undefined",   "--strip-all", "--threads=1",
                                    "--hash-style=gnu", "-o",          output.c_str()};
  for (const std::string &input : inputs)
    args.push_back(input.c_str());
  const lld::Result result = lld::lldMain(args, llvm::nulls(), errors, {{lld::Gnu, &lld::elf::link}});
  return result.retCode == 0 ? llvm::Error::success() : linkError(messages);
}

llvm::Expected<std::string> trainc::codegen::linkSharedObject(llvm::ArrayRef<llvm::StringRef> objects) {
  static std::mutex linkerState;
  std::lock_guard<std::mutex> lock(linkerState);
  std::vector<Descriptor> inputs;
  std::vector<std::string> names;
  for (llvm::StringRef object : objects) {
    llvm::Expected<Descriptor> input = fileInMemory(object);
    if (!input)
      return input.takeError();
    names.push_back(nameOf(*input));
    inputs.push_back(std::move(*input));
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return linkError(llvm::Twine("cannot make a pipe: ") + std::strerror(errno) +
                     "; allow more open files (ulimit -n)");
  Descriptor readEnd(ends[0]), writeEnd(ends[1]);
  // A pipe's buffer is smaller than an image, so that a thread reads while the linker writes.
  std::optional<std::string> image;
  llvm::thread reader([&] { image = readToEnd(readEnd); });
  llvm::Error error = runLinker(names, nameOf(writeEnd));
  writeEnd = Descriptor();
  reader.join();
  if (error)
    return error;
  if (!image)
    return linkError("cannot read from a pipe");
  return std::move(*image);
}
