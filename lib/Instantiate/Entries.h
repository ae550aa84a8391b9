// The entries of a program, one function per family.
#pragma once

#include "lib/Instantiate/Binding.h"
#include "lib/Instantiate/Losses.h"

namespace trainc {

/// What the entries of one program share.
struct Instantiation {
  Binding binding;
  StateTable states;
  ParameterTable parameters;
};

/// train.input of every column at the builder's position, with `batch` samples of `length` tokens.
llvm::SmallVector<mlir::Value> createInputs(mlir::OpBuilder &builder, nn::ModelOp model, BatchExtent extent,
                                            int64_t batch, int64_t length);

/// Forward of a micro-batch; adds its share to the step's loss and asks for its gradient. Returns what the
/// model gives out.
mlir::FailureOr<Forward> buildMicroStep(Instantiation &shared, train::EntryOp entry);
/// Marks the parameters that a group freezes. A group that matches no parameter is an error.
mlir::LogicalResult applyGroups(const Binding &binding);
/// Draws or fills all parameters.
void buildInit(Instantiation &shared, train::EntryOp entry);
/// Counts the targets of all micro-batches, and zeroes the loss. `micro` is a micro-batch's forward.
mlir::LogicalResult buildBeginStep(Instantiation &shared, train::EntryOp entry, const Forward &micro);
/// Sums of loss and targets over an evaluation batch.
mlir::LogicalResult buildEval(Instantiation &shared, train::EntryOp entry);
/// Prefill and decode, where the model continues token sequences. Where something in the model stands against
/// it, there are none; a remark and the program say what.
void buildGeneration(Instantiation &shared, const Forward &micro);

/// Removes ops whose results nobody uses.
void eraseDeadOps(train::EntryOp entry);
/// Says of every input which integers it may hold: those that all its uses, in all entries, can look up.
/// Where they cannot all be ignored, nothing fills up batches.
void limitInputs(mlir::ModuleOp module);

} // namespace trainc
