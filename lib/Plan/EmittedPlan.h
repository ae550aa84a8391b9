// The plan that a module would become, as the tables of its file. Passes that need facts about instructions,
// i.e. bytes, work and seconds, ask plan/facts and plan/simulate about it.
#pragma once

#include "dialects/Plan/Plan.h"
#include "plan/cost/work.h"
#include "plan/schema/plan_generated.h"

#include "mlir/IR/BuiltinOps.h"

namespace trainc {

/// Returns all tables of a module of phase `plan` but those of objects; name, target, report and predictions
/// are empty.
fb::PlanT writeTables(mlir::ModuleOp module);

/// A plan without code, report and predictions.
class EmittedPlan {
public:
  /// `module` is of phase `plan`; later changes of it do not show.
  explicit EmittedPlan(mlir::ModuleOp module);
  explicit EmittedPlan(const fb::PlanT &plan);

  const fb::Plan &operator*() const { return *fb::GetPlan(builder_.GetBufferPointer()); }
  const fb::Plan *operator->() const { return &**this; }

  /// Returns the table of an entry of the module.
  const fb::Entry &entry(plan::EntryOp entry) const;

private:
  flatbuffers::FlatBufferBuilder builder_;
};

/// Returns the work of one launch of the kernel.
Work workOf(plan::KernelOp kernel);

/// Returns the work of a library call, `plan.matrix_product` or `plan.attention`. Its operands need not
/// exist.
Work workOfCall(mlir::Operation *call);

} // namespace trainc
