#include "lib/Pipelines/Snapshots.h"

#include "mlir/Pass/Pass.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace trainc {

/// Writes `op` as text.
static std::error_code writeText(StringRef path, Operation *op) {
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  if (error)
    return error;
  file << *op << "\n";
  file.close();
  error = file.error();
  file.clear_error(); // an uncleared stream error would end the program
  return error;
}

void Snapshots::write(StringRef name, Operation *module) {
  if (failed_)
    return;
  std::string path = llvm::formatv("{0}/{1,0+2}-{2}.mlir", dir_, next_, name);
  std::error_code error = next_++ == 0 ? llvm::sys::fs::create_directories(dir_) : std::error_code();
  if (!error)
    error = writeText(path, module);
  if (!error)
    return;
  failed_ = true;
  module->emitError() << "--dump-ir: cannot write the snapshot '" << path << "': " << error.message();
}

namespace {

class AfterEveryPass : public PassInstrumentation {
public:
  explicit AfterEveryPass(Snapshots &snapshots) : snapshots_(snapshots) {}

  void runAfterPass(Pass *pass, Operation *op) override { snapshots_.write(pass->getArgument(), op); }

private:
  Snapshots &snapshots_;
};

} // namespace

std::unique_ptr<PassInstrumentation> Snapshots::instrumentation() {
  return std::make_unique<AfterEveryPass>(*this);
}

} // namespace trainc
