// Random valid models, generated from the op definitions of the dialect.
#pragma once

#include "test/programs/trial.h"

#include "dialects/NN/NN.h"

#include <map>
#include <string>

namespace trainc::programs {

/// Grows one model op by op. An op of any kind that the dialect has is created with operands and attributes
/// at random; the op's own verification and inference of types decide whether it is legal.
class Generator {
public:
  /// The same seed and size give the same model, whose tensors have at most so many elements. The dialects
  /// must be loaded.
  Generator(mlir::MLIRContext &context, unsigned seed, int64_t maxElements);

  /// The text of a model of `ops` tensor ops, some of them in blocks, and of a program that trains it.
  std::string build(int ops);

  /// The names of all ops that a model may compute with.
  static std::vector<std::string> opNames(mlir::MLIRContext &context);

private:
  unsigned pick(size_t end) { return unsigned(random_() % end); }
  bool chance(unsigned outOf) { return pick(outOf) == 0; }
  template <typename T> T oneOf(std::initializer_list<T> choices) {
    return choices.begin()[pick(choices.size())];
  }

  mlir::RankedTensorType drawType(mlir::Type element, bool isBatched);
  void createColumns();
  void createParameter();
  mlir::Value anyValue();
  mlir::Value drawOperand(llvm::ArrayRef<mlir::Value> before);
  size_t drawOperandCount(mlir::RegisteredOperationName name);
  std::optional<size_t> optionalOfAttention(mlir::ValueRange operands);
  mlir::Attribute drawAttribute(llvm::StringRef name, mlir::ValueRange operands);
  mlir::Attribute drawShape(mlir::ValueRange operands);
  bool tryOp(mlir::RegisteredOperationName name);
  void addLosses();
  void outline(size_t blocks);
  void moveIntoBlock(llvm::ArrayRef<mlir::Operation *> ops, const std::string &name);

  unsigned seed_;
  int64_t maxElements_;
  std::mt19937 random_;
  mlir::MLIRContext &context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  nn::ModelOp model_;
  mlir::OpBuilder builder_;
  Trial trial_;
  int64_t batch_;
  llvm::SmallVector<int64_t> sizes_;
  std::vector<mlir::Value> values_;
  int parameters_ = 0;
};

} // namespace trainc::programs
