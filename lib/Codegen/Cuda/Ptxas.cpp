#include "lib/Codegen/Cuda/Ptxas.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <cstdlib>
#include <thread>

using namespace trainc::codegen;

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

static Assembly runPtxas(llvm::StringRef program, llvm::StringRef source, llvm::StringRef level) {
  TemporaryFile image("cubin"), log("log");
  if (!image.exists() || !log.exists())
    return {{}, "expected room for temporary files, found none"};
  const std::string which = ("-arch=" + level).str();
  const llvm::StringRef arguments[] = {program, which, "-O3", source, "-o", image.path()};
  const std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(), log.path(), log.path()};
  const int code = llvm::sys::ExecuteAndWait(program, arguments, std::nullopt, redirects);
  if (code != 0)
    return {{},
            (program + " for " + level + " failed: " + log.content()).str(),
            llvm::StringRef(log.content()).contains("is not defined for option 'gpu-name'")};
  return {image.content(), {}};
}

bool trainc::codegen::hasPtxas() { return !findPtxas().empty(); }

llvm::Expected<std::vector<Object>>
trainc::codegen::assemble(llvm::StringRef ptx, llvm::ArrayRef<llvm::StringRef> levels, LeftOut leftOut) {
  const std::string program = levels.empty() ? std::string() : findPtxas();
  if (program.empty())
    return std::vector<Object>();
  TemporaryFile source("ptx");
  std::error_code error;
  llvm::raw_fd_ostream stream(source.path(), error);
  stream << ptx;
  stream.close();
  if (error || stream.has_error())
    return llvm::createStringError("expected room for a temporary file of PTX, found none");
  std::vector<Assembly> made(levels.size());
  std::vector<std::thread> runs;
  for (size_t i = 0; i < made.size(); ++i)
    runs.emplace_back([&, i] { made[i] = runPtxas(program, source.path(), levels[i]); });
  for (std::thread &run : runs)
    run.join();
  std::vector<Object> objects;
  for (auto [level, assembly] : llvm::zip_equal(levels, made)) {
    if (assembly.isUnknown) {
      leftOut(program, level);
      continue;
    }
    if (!assembly.error.empty())
      return llvm::createStringError(assembly.error);
    objects.push_back({level.str(), {}, std::move(assembly.image)});
  }
  return objects;
}
