// lld's ELF driver, on files in a temporary folder.
#include "lib/Codegen/Cpu/Link.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

static llvm::Error failed(llvm::StringRef what) {
  return llvm::createStringError("linking kernels: " + what);
}

static std::error_code writeFile(const std::string &path, llvm::StringRef bytes) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (error)
    return error;
  stream << bytes;
  stream.close();
  error = stream.error();
  stream.clear_error();
  return error;
}

llvm::Expected<std::string> trainc::codegen::linkSharedObject(llvm::StringRef object) {
  static std::mutex linkerState;
  std::lock_guard<std::mutex> lock(linkerState);
  llvm::SmallString<128> folder;
  if (std::error_code error = llvm::sys::fs::createUniqueDirectory("trainc-link", folder))
    return failed("cannot make a temporary folder: " + error.message() + "; set TMPDIR to a writable one");
  llvm::scope_exit cleanUp([&] { (void)llvm::sys::fs::remove_directories(folder); });
  std::string input = (folder + "/kernels.o").str(), output = (folder + "/kernels.so").str(), messages;
  if (std::error_code error = writeFile(input, object))
    return failed("cannot write " + input + ": " + error.message() + "; set TMPDIR to a folder with space");
  llvm::raw_string_ostream errors(messages);
  const char *args[] = {"ld.lld",      "-shared",     "-nostdlib",        "--no-undefined",
                        "--strip-all", "--threads=1", "--hash-style=gnu", input.c_str(),
                        "-o",          output.c_str()};
  lld::Result result = lld::lldMain(args, llvm::nulls(), errors, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0)
    return failed(messages);
  auto linked = llvm::MemoryBuffer::getFile(output, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!linked)
    return failed("cannot read the result: " + linked.getError().message());
  return (*linked)->getBuffer().str();
}
