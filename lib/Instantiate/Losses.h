// Losses: sums over targets, and what they are divided by.
#pragma once

#include "lib/Instantiate/Forward.h"

namespace trainc {

/// The sum of all elements, f32.
mlir::Value buildSum(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x);

/// The sum of a loss over its elements, f32.
mlir::Value buildLossSum(mlir::OpBuilder &builder, const LossTerm &term);

/// What each target counts; none if the loss does not come from a loss op, so that it is a mean over
/// elements.
std::optional<mlir::Value> buildTargetWeights(mlir::OpBuilder &builder, const LossTerm &term);

/// The batch column in which a sample of nothing but the ignored value counts in neither the loss nor its
/// targets; null if there is none.
train::InputOp ignoringColumn(const LossTerm &term);

/// Number of a loss's elements.
int64_t countElements(const LossTerm &term);

/// sum / targets, and 0 where there are no targets.
mlir::Value buildMean(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value sum, mlir::Value targets);

/// The state that holds what loss number `index` is divided by in a step: "targets", then "targets.<name>".
train::StateOp targetsState(StateTable &states, const LossTerm &term, size_t index);

} // namespace trainc
