#include "lib/Pipelines/Snapshots.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace trainc {

namespace {

class Snapshots : public PassInstrumentation {
public:
  explicit Snapshots(std::string dir) : dir_(std::move(dir)) {}

  void runBeforePass(Pass *, Operation *op) override {
    if (next_ == 0)
      write("model", op);
  }
  void runAfterPass(Pass *pass, Operation *op) override { write(pass->getArgument(), op); }

private:
  void write(StringRef name, Operation *op) {
    llvm::sys::fs::create_directories(dir_);
    std::string path = llvm::formatv("{0}/{1,0+2}-{2}.mlir", dir_, next_++, name);
    std::error_code error;
    llvm::raw_fd_ostream file(path, error);
    if (error)
      op->emitError() << "cannot write the snapshot '" << path << "': " << error.message();
    else
      file << *op << "\n";
  }

  std::string dir_;
  int next_ = 0;
};

} // namespace

std::unique_ptr<PassInstrumentation> createSnapshots(const std::string &dir) {
  return std::make_unique<Snapshots>(dir);
}

} // namespace trainc
