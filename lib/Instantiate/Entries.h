// Builders of a program's entries: one function per entry, or per group of entries.
#pragma once

#include "lib/Instantiate/Binding.h"
#include "lib/Instantiate/Losses.h"

#include "mlir/IR/OwningOpRef.h"

namespace trainc {

/// Data that all entries of a program share.
struct Instantiation {
  Binding binding;
  StateTable states;
  ParameterTable parameters;
};

/// Creates a train.input for every column of the model, with `batch` samples of `length` tokens.
llvm::SmallVector<mlir::Value> createInputs(mlir::OpBuilder &builder, nn::ModelOp model, BatchExtent extent,
                                            int64_t batch, int64_t length);

/// Builds the forward of `batch` samples of `length` tokens, without dropout, in a new entry outside the
/// module, which `entry` receives. The parameters must have been declared.
mlir::FailureOr<Forward> expandOutsideModule(Instantiation &shared, int64_t batch, int64_t length,
                                             mlir::OwningOpRef<train::EntryOp> &entry);

/// Builds the forward of a micro-batch, adds the micro-batch's share to the step's loss, and requests the
/// gradient. Returns the model's outputs.
mlir::FailureOr<Forward> buildMicroStep(Instantiation &shared, train::EntryOp entry);
/// Marks the parameters that a group freezes. Reports an error if a group matches no parameter.
mlir::LogicalResult applyGroups(const Binding &binding);
/// Builds the initial values of all parameters.
void buildInit(Instantiation &shared, train::EntryOp entry);
/// Counts the targets of all micro-batches and zeroes the loss. `micro` is the forward of one micro-batch.
mlir::LogicalResult buildBeginStep(Instantiation &shared, train::EntryOp entry, const Forward &micro);
/// Builds the sums of loss and targets over an evaluation batch.
mlir::LogicalResult buildEval(Instantiation &shared, train::EntryOp entry);
/// If `micro`, the forward of a micro-batch, combines samples, records the location in the program. Warns if
/// a step has several micro-batches, or evaluation another batch size: the warning defines the loss.
void noteCombinedSamples(Instantiation &shared, const Forward &micro);
/// Builds prefill and decode if the model can continue token sequences. Otherwise builds nothing; a remark
/// and the program give the reason.
void buildGeneration(Instantiation &shared, const Forward &micro);

/// Erases ops whose results have no users.
void eraseDeadOps(train::EntryOp entry);
/// Sets the valid integers of every input: those that all lookups of its column in all entries accept. If the
/// lookups of a column have no common ignored value, batches cannot be padded.
void limitInputs(mlir::ModuleOp module);

} // namespace trainc
