#include "lib/Codegen/Cuda/Ptxas.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <cstdlib>
#include <thread>

using namespace trainc::codegen;

/// A100, H100 and H200, B200.
static constexpr llvm::StringLiteral kArchitectures[] = {"sm_80", "sm_90", "sm_100"};

static std::string findPtxas() {
  llvm::SmallVector<llvm::SmallString<128>, 2> folders;
  for (const char *variable : {"CUDA_PATH", "CUDA_HOME"})
    if (const char *path = std::getenv(variable))
      folders.emplace_back(path);
  folders.emplace_back("/usr/local/cuda");
  for (llvm::SmallString<128> &folder : folders)
    llvm::sys::path::append(folder, "bin");
  for (const auto &folder : folders)
    if (auto found = llvm::sys::findProgramByName("ptxas", {folder.str()}))
      return *found;
  auto found = llvm::sys::findProgramByName("ptxas");
  return found ? *found : std::string();
}

namespace {

/// A file that is gone when this is.
class TemporaryFile {
public:
  explicit TemporaryFile(llvm::StringRef suffix) {
    if (!llvm::sys::fs::createTemporaryFile("trainc", suffix, path_))
      remover_.setFile(path_);
  }
  bool exists() const { return !path_.empty(); }
  llvm::StringRef path() const { return path_; }
  std::string content() const {
    auto buffer = llvm::MemoryBuffer::getFile(path_);
    return buffer ? (*buffer)->getBuffer().str() : std::string();
  }

private:
  llvm::SmallString<128> path_;
  llvm::FileRemover remover_;
};

/// What one run of the assembler gave.
struct Assembly {
  std::string image, error;
  bool isUnknown = false; ///< older than the architecture
};

} // namespace

static Assembly runPtxas(llvm::StringRef program, llvm::StringRef source, llvm::StringRef architecture) {
  TemporaryFile image("cubin"), log("log");
  if (!image.exists() || !log.exists())
    return {{}, "expected room for temporary files, found none"};
  const std::string which = ("-arch=" + architecture).str();
  const llvm::StringRef arguments[] = {program, which, "-O3", source, "-o", image.path()};
  const std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(), log.path(), log.path()};
  const int code = llvm::sys::ExecuteAndWait(program, arguments, std::nullopt, redirects);
  if (code != 0)
    return {{},
            (program + " for " + architecture + " failed: " + log.content()).str(),
            llvm::StringRef(log.content()).contains("is not defined for option 'gpu-name'")};
  return {image.content(), {}};
}

/// Those of kArchitectures that can run what `least` can.
static std::vector<llvm::StringRef> architecturesFrom(llvm::StringRef least) {
  auto numberOf = [](llvm::StringRef name) {
    unsigned number = 0;
    name.drop_front(llvm::StringLiteral("sm_").size()).getAsInteger(10, number);
    return number;
  };
  std::vector<llvm::StringRef> names;
  for (llvm::StringRef name : kArchitectures)
    if (numberOf(name) >= numberOf(least))
      names.push_back(name);
  return names;
}

llvm::Expected<std::vector<Object>> trainc::codegen::assemble(llvm::StringRef ptx, llvm::StringRef least,
                                                              LeftOut leftOut) {
  const std::string program = findPtxas();
  if (program.empty())
    return std::vector<Object>();
  TemporaryFile source("ptx");
  std::error_code error;
  llvm::raw_fd_ostream stream(source.path(), error);
  stream << ptx;
  stream.close();
  if (error || stream.has_error())
    return llvm::createStringError("expected room for a temporary file of PTX, found none");
  const std::vector<llvm::StringRef> architectures = architecturesFrom(least);
  std::vector<Assembly> made(architectures.size());
  std::vector<std::thread> runs;
  for (size_t i = 0; i < made.size(); ++i)
    runs.emplace_back([&, i] { made[i] = runPtxas(program, source.path(), architectures[i]); });
  for (std::thread &run : runs)
    run.join();
  std::vector<Object> objects;
  for (auto [architecture, assembly] : llvm::zip_equal(architectures, made)) {
    if (assembly.isUnknown) {
      leftOut(program, architecture);
      continue;
    }
    if (!assembly.error.empty())
      return llvm::createStringError(assembly.error);
    objects.push_back({architecture.str(), {}, std::move(assembly.image)});
  }
  return objects;
}
