#include "lib/Codegen/Cuda/Ptxas.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"

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

/// A temporary file that is removed by the destructor, or when a signal ends the program.
class TemporaryFile {
public:
  explicit TemporaryFile(llvm::StringRef suffix)
      : error_(llvm::sys::fs::createTemporaryFile("trainc", suffix, path_)) {
    if (!error_)
      llvm::sys::RemoveFileOnSignal(path_);
  }
  ~TemporaryFile() {
    if (error_)
      return;
    llvm::sys::fs::remove(path_);
    llvm::sys::DontRemoveFileOnSignal(path_);
  }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  llvm::StringRef path() const { return path_; }
  std::string content() const {
    auto buffer = llvm::MemoryBuffer::getFile(path_);
    return buffer ? (*buffer)->getBuffer().str() : std::string();
  }
  void write(llvm::StringRef text) {
    if (error_)
      return;
    llvm::raw_fd_ostream stream(path_, error_);
    stream << text;
    stream.close();
    if (stream.has_error())
      error_ = stream.error();
    stream.clear_error(); // an unhandled stream error would end the program
  }
  /// Returns the reason why the file does not exist or is incomplete; empty on success.
  std::string error() const {
    return error_ ? "expected room for " + path_.str().str() +
                        ", a temporary file ($TMPDIR chooses its folder), found: " + error_.message()
                  : std::string();
  }

private:
  llvm::SmallString<128> path_;
  std::error_code error_;
};

/// Result of one run of the assembler.
struct Assembly {
  std::string image, error;
  bool isUnknown = false; ///< the assembler is older than the architecture
};

} // namespace

/// Magic number of ELF files, which hold machine code.
static constexpr llvm::StringLiteral kElfMagic = "\x7f"
                                                 "ELF";

static Assembly runPtxas(llvm::StringRef program, llvm::StringRef source, llvm::StringRef level) {
  TemporaryFile image("cubin"), log("log");
  for (const TemporaryFile *file : {&image, &log})
    if (const std::string error = file->error(); !error.empty())
      return {{}, error};
  const std::string which = ("-arch=" + level).str();
  const llvm::StringRef arguments[] = {program, which, "-O3", source, "-o", image.path()};
  const std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(), log.path(), log.path()};
  std::string signal; // that ended ptxas, or the reason why it could not start
  const int code = llvm::sys::ExecuteAndWait(program, arguments, std::nullopt, redirects, 0, 0, &signal);
  const std::string printed = log.content();
  const std::string failed = (program + " for " + level + " failed").str();
  if (code < 0)
    return {{}, failed + ": " + signal + printed};
  if (code > 0)
    return {{},
            failed + " with exit code " + std::to_string(code) + ": " +
                (printed.empty() ? "it printed nothing" : printed),
            llvm::StringRef(printed).contains("is not defined for option 'gpu-name'")};
  std::string machineCode = image.content();
  if (!llvm::StringRef(machineCode).starts_with(kElfMagic))
    return {{},
            failed + ": expected an ELF file with machine code, found " + std::to_string(machineCode.size()) +
                " bytes of something else"};
  return {std::move(machineCode), {}};
}

bool trainc::codegen::hasPtxas() { return !findPtxas().empty(); }

llvm::Expected<std::vector<Object>>
trainc::codegen::assemble(llvm::StringRef ptx, llvm::ArrayRef<llvm::StringRef> levels, LeftOut leftOut) {
  const std::string program = levels.empty() ? std::string() : findPtxas();
  if (program.empty())
    return std::vector<Object>();
  TemporaryFile source("ptx");
  source.write(ptx);
  if (const std::string error = source.error(); !error.empty())
    return llvm::createStringError(error);
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
