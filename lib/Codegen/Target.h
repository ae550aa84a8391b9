// Interface between passes and the kinds of processors that execute plans.
#pragma once

#include "lib/Codegen/Fp32Products.h"
#include "lib/Codegen/KernelModule.h"
#include "lib/Codegen/KernelSummary.h"
#include "plan/cost/cluster_file.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>
#include <string>
#include <vector>

namespace trainc::train {
class ProgramOp;
}

namespace trainc::codegen {

/// Machine code for one instruction-set level; the fields are those of the plan's Object.
struct Object {
  std::string level;
  std::vector<std::string> features;
  std::string image;
};

/// Limits and preferences of a target.
struct TargetLimits {
  int64_t bufferAlignment; ///< bytes; every buffer of an arena begins at a multiple
  /// Elements of a single row that one block processes. Longer rows are cut into pieces that run in parallel,
  /// so that no op of a kernel may use a value that is known only after the whole row.
  int64_t longestRow;
  int64_t blockBytes; ///< maximum bytes of rows in a block's own memory
};

/// A sum over ranks.
struct RankSum {
  mlir::Type element; ///< element type that ranks send
  mlir::Type into;    ///< element type of the sums
  int64_t places;     ///< number of ranks in the group
};

/// Ops that a target executes by libraries of the device instead of generated code.
struct LibraryCalls {
  bool products = false, attention = false, attentionGradients = false;
  /// Whether products support exact GELU, besides biases and the tanh form.
  bool exactGelu = true;
  /// Required divisor of the row length, in elements, of an activation's input or auxiliary tensor.
  int64_t auxiliaryRow = 1;
};

/// Attribute of a module of kernels: the target's name.
inline constexpr llvm::StringLiteral kTargetAttr = "plan.target";

/// A kind of processor that plans are compiled for. Its ops are those of the phase `scheduled` with generated
/// code (isGenerated()), and dist.rank_sum.
class Target {
public:
  virtual ~Target() = default;

  /// Returns the target of a module of kernels. (This and the next method are defined in
  /// Targets/Targets.cpp.)
  static std::unique_ptr<Target> of(mlir::ModuleOp kernels);

  /// Returns the target that the program of the module around `op` selects; without a program the default.
  static std::unique_ptr<Target> chosenFor(mlir::Operation *op);

  /// Resolves words of the program that depend on this machine, such as `cpu "native"` to the name of a
  /// level. Fails with an error at the program if words contradict each other or the machine.
  virtual llvm::LogicalResult resolveSettings(train::ProgramOp program) const = 0;

  /// Name in `--target` and in the attribute `plan.target`.
  virtual llvm::StringRef name() const = 0;

  virtual TargetLimits limits() const = 0;

  /// Machines for which passes optimize. They do not depend on the machine that compiles, so that equal
  /// programs give equal plans.
  virtual const Cluster &referenceCluster() const = 0;

  /// One device of the reference cluster, for choosing kernels, which must not depend on the number of ranks.
  Machine referenceMachine() const { return referenceCluster().machine; }

  /// Share of the reference cluster of one of `ranks`, for predicting a step's time.
  Machine referenceMachine(int64_t ranks) const { return referenceCluster().machineOf(uint32_t(ranks)); }

  /// Share of the compiling machine of one of `ranks`, for predictions. If it has no device of the target,
  /// the reference cluster's.
  virtual Machine thisMachine(int64_t ranks) const = 0;

  /// Creates an empty module for kernels, which of() maps back to the target. Loads the dialects that
  /// generate() and compile() need.
  mlir::OwningOpRef<mlir::ModuleOp> createModule(mlir::MLIRContext &context) const;

  /// Ops that summarise() executes by a library; products may then have epilogues (GemmOpInterface).
  virtual LibraryCalls libraryCalls() const = 0;

  /// Work per flop of large products with factors of a type, executed by a kernel or a library.
  virtual Work productWork(mlir::Type factor) const = 0;

  /// Whether a kernel of the plan (dist.rank_sum), and not the communication engine, sums the values that
  /// ranks send.
  virtual bool addsByKernel(const RankSum &sum) const = 0;

  /// Returns the launches or the library call that would execute `op`, and their workspace, without
  /// generating code. Reports an error at the op if the target cannot execute it.
  virtual llvm::FailureOr<KernelSummary> summarise(mlir::Operation *op) const = 0;

  /// Generates the code of summarise()'s launches in the module `kernels`, where equal kernels exist once,
  /// and returns their symbols. `op` must not be a library call. Reports an error at the op if the target
  /// cannot execute it.
  virtual llvm::FailureOr<llvm::SmallVector<std::string>> generate(mlir::Operation *op,
                                                                   KernelModule &kernels) const = 0;

  /// Returns the machine code of all kernels for each applicable instruction-set level. Lowers `kernels`.
  virtual llvm::FailureOr<std::vector<Object>> compile(mlir::ModuleOp kernels) const = 0;

  /// Target of kernels for ops that run on the host's cores (HostOps.h), whose code is in a separate module;
  /// null if the device is the host.
  virtual const Target *host() const { return nullptr; }

  /// Alignment in bytes at which rows are moved and multiplied faster; 1 if alignment does not matter.
  virtual int64_t rowAlignment() const { return 1; }

  /// Whether `op` supports padding after the rows of `value`, an operand or result (RowPadding.h).
  virtual bool takesPadding(mlir::Operation * /*op*/, mlir::Value /*value*/) const { return false; }

private:
  /// Loads the dialects for createModule(), and records on the module what of() needs.
  virtual void prepare(mlir::ModuleOp kernels) const = 0;
};

} // namespace trainc::codegen
