// The seam between what a plan computes and the kind of processor that computes it.
#pragma once

#include "lib/Codegen/Fp32Products.h"
#include "lib/Codegen/KernelModule.h"
#include "lib/Codegen/KernelSummary.h"
#include "runtime/cost/cluster_file.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>
#include <string>
#include <vector>

namespace trainc::train {
class ProgramOp;
}

namespace trainc::codegen {

/// Machine code for one instruction-set level; fields as in the plan's Object.
struct Object {
  std::string level;
  std::vector<std::string> features;
  std::string image;
};

/// What a kind of processor allows or wants, beside its code.
struct TargetLimits {
  int64_t bufferAlignment; ///< bytes: every buffer of an arena starts on a multiple
  /// Elements of a single row that one block walks over. Longer ones are cut into pieces that run in
  /// parallel, so no op of a kernel may use what is known when the row is done.
  int64_t longestRow;
  int64_t blockBytes; ///< what the rows may take that a kernel keeps in a block's own memory
};

/// A sum over ranks.
struct RankSum {
  mlir::Type element; ///< of what is sent
  mlir::Type into;    ///< of the sums
  int64_t places;     ///< ranks that meet
};

/// Which ops a target leaves to libraries of the device, instead of making code.
struct LibraryCalls {
  bool products = false, attention = false, attentionGradients = false;
  /// What products can do beside adding biases and applying the tanh form of GELU.
  bool exactGelu = true;
  /// What activations are applied to, or read beside, has rows of multiples of so many elements.
  int64_t auxiliaryRow = 1;
};

/// A kind of processor that plans are made for. Ops are those of the phase `scheduled` that run generated
/// code (isGenerated()), and dist.rank_sum.
class Target {
public:
  virtual ~Target() = default;

  /// The target that a module of kernels is for, or will be.
  static std::unique_ptr<Target> of(mlir::ModuleOp kernels);

  /// The target that the program of the module around `op` asks for; without a program the default.
  static std::unique_ptr<Target> chosenFor(mlir::Operation *op);

  /// Writes into the program what its words mean on this machine, such as the name of a level for
  /// `cpu "native"`. Fails with an error at the program if the words contradict each other or the machine.
  virtual llvm::LogicalResult settle(train::ProgramOp program) const = 0;

  /// As `--target` and the attribute `plan.target` name it.
  virtual llvm::StringRef name() const = 0;

  virtual TargetLimits limits() const = 0;

  /// For which machines passes choose what costs the least. They do not depend on the machine that compiles,
  /// so that equal programs give equal plans.
  virtual const Cluster &referenceCluster() const = 0;

  /// One device of them. Kernels are chosen for it, so that they are the same at any number of ranks.
  Machine referenceMachine() const { return referenceCluster().machine; }

  /// What one of `ranks` has of them: for the time of a step.
  Machine referenceMachine(int64_t ranks) const { return referenceCluster().machineOf(uint32_t(ranks)); }

  /// What one of `ranks` has of the machine that compiles, for predictions; of a target that it has no device
  /// of, of the reference.
  virtual Machine thisMachine(int64_t ranks) const = 0;

  /// An empty module for kernels, of which of() knows the target again, with the dialects loaded that
  /// generate() and compile() need.
  mlir::OwningOpRef<mlir::ModuleOp> createModule(mlir::MLIRContext &context) const;

  /// Which ops summarise() leaves to libraries: products may have epilogues then (GemmOpInterface).
  virtual LibraryCalls libraryCalls() const = 0;

  /// What one flop of large products with factors of a type asks of a machine, whoever multiplies them.
  virtual Work productWork(mlir::Type factor) const = 0;

  /// Whether a kernel of the plan's adds what ranks send (dist.rank_sum), and not whoever moves it.
  virtual bool addsByKernel(const RankSum &sum) const = 0;

  /// How the target would run `op`: launches, or a library call, with the workspace that it needs. Makes no
  /// code. Emits an error at the op where it cannot be executed.
  virtual llvm::FailureOr<KernelSummary> summarise(mlir::Operation *op) const = 0;

  /// Makes the code of summarise()'s launches, of an op that is no library call, in the module `kernels`,
  /// where equal kernels exist once, and returns their symbols. Emits an error at the op where it cannot be
  /// executed.
  virtual llvm::FailureOr<llvm::SmallVector<std::string>> generate(mlir::Operation *op,
                                                                   KernelModule &kernels) const = 0;

  /// Machine code of all kernels, for each instruction-set level that suits them. `kernels` is lowered on the
  /// way.
  virtual llvm::FailureOr<std::vector<Object>> compile(mlir::ModuleOp kernels) const = 0;

  /// The target of kernels for the host's cores, of which ops say that they run there (HostOps.h); null if
  /// the device is the host. Their code is in a module of its own.
  virtual const Target *host() const { return nullptr; }

  /// Bytes: rows that begin on such borders are moved and multiplied faster; 1 where it does not matter.
  virtual int64_t rowBorder() const { return 1; }

  /// Whether `op` takes padding behind the rows of `value`, which is among its operands or results
  /// (RowPadding.h).
  virtual bool takesPadding(mlir::Operation * /*op*/, mlir::Value /*value*/) const { return false; }

private:
  /// Loads the dialects of createModule(), and notes on the module what else of() must know.
  virtual void prepare(mlir::ModuleOp kernels) const = 0;
};

/// x86-64 CPUs; `levels`: as the word `cpu` of train.program says them.
std::unique_ptr<Target> createCpuTarget(Fp32Products products = Fp32Products::Fma,
                                        LibraryCalls libraryCalls = {}, llvm::StringRef levels = "all");

/// What plans for GPUs differ in.
struct CudaChoices {
  Fp32Products products = Fp32Products::Fma;
  LibraryCalls libraryCalls;
  std::string gpu;                    ///< as the word of train.program says it; for estimates
  std::string levels = "all";         ///< of machine code, as the word `gpu_levels` says them
  bool reproducibleOverRanks = false; ///< sums over ranks are the tree's
};

/// NVIDIA's GPUs from compute capability 8.0 on.
std::unique_ptr<Target> createCudaTarget(CudaChoices choices);

} // namespace trainc::codegen
