// Losses: sums over targets, and their normalisers.
#pragma once

#include "lib/Instantiate/Forward.h"

namespace trainc {

/// Returns the sum of all elements, f32.
mlir::Value buildSum(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x);

/// Returns the sum of a loss over its elements, f32.
mlir::Value buildLossSum(mlir::OpBuilder &builder, const LossTerm &term);

/// Returns the weight of each target, or none if the loss is not the result of a loss op: it is then a mean
/// over elements.
std::optional<mlir::Value> buildTargetWeights(mlir::OpBuilder &builder, const LossTerm &term);

/// Returns the batch column with the loss's ignored value; null if there is none. A sample whose
/// values in this column are all ignored contributes neither loss nor targets.
train::InputOp ignoringColumn(const LossTerm &term);

/// Whether the loss is the mean negative log-likelihood of labels: a cross-entropy without a scale, smoothing
/// and weights of classes.
bool isLogLikelihood(const LossTerm &term);

/// Returns the number of elements of the loss tensor.
int64_t countElements(const LossTerm &term);

/// Returns sum / targets, or 0 if there are no targets.
mlir::Value buildMean(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value sum, mlir::Value targets);

/// Returns the state with the normaliser of loss number `index`: "targets" for the first loss,
/// "targets.<name>" for the others.
train::StateOp targetsState(StateTable &states, const LossTerm &term, size_t index);

} // namespace trainc
