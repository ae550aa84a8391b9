// Compiles one op as the compiler would, runs the machine code on given numbers, and runs the reference on
// the same.
#pragma once

#include "lib/Codegen/Target.h"
#include "lib/Reference/Tensor.h"
#include "runtime/device/cpu/kernel_image.h"
#include "tools/trainc-check/Buffer.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <memory>
#include <string>

namespace trainc::codegen::harness {

using check::Buffer;

/// Executes AMX code: the CPU, or functions of this process (matrix_unit_emulation.h).
enum class Unit { Real, Emulated };

/// The CPU's if it has one.
Unit unitHere();

/// How the tiles of each launch run: all at once; one by one from the last to the first; or three at a time
/// from the last to the first, so that a range begins and ends anywhere in a column of a product's tiles.
enum class Order { AtOnce, Reversed, InThrees };

/// A function `@f` whose body is one scheduled op, or primitive ops that fusion makes one nn.kernel of.
/// Results are in the order of that op's.
class ParsedOp {
public:
  mlir::Operation *op() const { return operation; }
  /// Argument types of @f.
  llvm::ArrayRef<mlir::Type> inputTypes() const;
  /// Random inputs: floats from [-2, 2], integers from [0, integerLimit).
  reference::Tensors randomInputs(int64_t integerLimit = 4, unsigned seed = 1) const;
  reference::Tensors reference(const reference::Tensors &inputs) const;

protected:
  /// Fails the test and leaves the op null where the text is not as it should be.
  void parse(const std::string &text);

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  mlir::Operation *operation = nullptr;
};

/// Compiled for the CPU.
class CompiledOp : public ParsedOp {
public:
  /// Parses and compiles; failures are reported to GoogleTest and leave the object empty.
  explicit CompiledOp(const std::string &text, Fp32Products products = Fp32Products::Fma,
                      Unit unit = unitHere());

  explicit operator bool() const { return !images.empty(); }
  const KernelSummary &kernels() const { return summary; }
  /// Symbols of the launches.
  llvm::ArrayRef<std::string> launched() const { return symbols; }

  using Pairs = llvm::ArrayRef<std::pair<unsigned, unsigned>>;

  /// Buffers for one set of inputs, and the launches bound to them.
  class Execution {
  public:
    /// Runs all launches, in order.
    void run(Order order = Order::AtOnce) const;
    /// The result `index` of the op.
    reference::Tensor result(unsigned index) const;
    /// The bytes of an operand, and of a result.
    void *operandBytes(unsigned index) const { return operands[index].data(); }
    const void *resultBytes(unsigned index) const { return resultPointers[index]; }

  private:
    friend class CompiledOp;
    struct Bound {
      KernelFunction kernel;
      int64_t grid;
      std::vector<void *> args;
      void *shared;
    };
    std::vector<Buffer> operands, results, scratch, shared;
    std::vector<mlir::RankedTensorType> types;
    std::vector<void *> resultPointers;
    std::vector<Bound> launches;
  };

  /// Copies `inputs` (of the function's arguments) into buffers. `level`: one of levels(); `shared` pairs
  /// (operand, result) get one buffer, the first pair of a result or operand counts.
  Execution prepare(const reference::Tensors &inputs, const std::string &level, Pairs shared = {}) const;
  /// Likewise, with the operands as they lie in memory.
  Execution prepare(std::vector<Buffer> operands, const std::string &level, Pairs shared = {}) const;

  /// Prepares, runs, and reads the results.
  reference::Tensors run(const reference::Tensors &inputs, const std::string &level = "x86-64-v3",
                         Order order = Order::AtOnce, Pairs shared = {}) const;

  /// Levels that there is code for.
  std::vector<std::string> levels() const;
  /// Whether the code runs here that `unit` was left to its default for.
  static bool levelRunsHere(const std::string &level);
  /// The ELF shared object of a level.
  llvm::StringRef object(const std::string &level) const { return objects.at(level); }

private:
  void compile(Unit unit);

  mlir::OwningOpRef<mlir::ModuleOp> kernelModule;
  std::unique_ptr<Target> target;
  KernelSummary summary;
  llvm::SmallVector<std::string> symbols; ///< of the launches
  std::map<std::string, KernelImage> images;
  std::map<std::string, std::string> objects; ///< objects from which the images were loaded
};

/// |difference| <= tolerance * max(1, |expected|) for all elements.
void expectClose(const reference::Tensor &actual, const reference::Tensor &expected, double tolerance,
                 const std::string &what);
void expectSameBits(const reference::Tensors &a, const reference::Tensors &b, const std::string &what);

/// Expects both levels, in both orders of tiles, to give the same bits, within `tolerance` of the reference.
void expectMatchesReference(const std::string &text, double tolerance, int64_t integerLimit = 4);
void expectMatchesReference(const CompiledOp &op, const reference::Tensors &inputs, double tolerance);

} // namespace trainc::codegen::harness
