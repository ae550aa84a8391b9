#ifndef TRAINC_MEMORY_PASSES
#define TRAINC_MEMORY_PASSES

include "mlir/Pass/PassBase.td"

def PlanMemoryPass : Pass<"plan-memory", "::mlir::ModuleOp"> {
  let summary = "gives every value an address and turns entries into instructions";
  let description = [{
    Values of an entry become buffers: a state's own buffer where a value is read from it or written to it in place, the
    operand's buffer where an op may overwrite a dead operand, else a range of the scratch arena, placed so that values
    that are alive together do not overlap. Kernels must have been generated (`generate-kernels`), and what `verify-scheduled` proves is proven
    anew first. Copies are made where a value could not be made in place, and of a rank's part of a sum that only it outlives.

    Before:
    ```mlir
    train.state parameter @w : tensor<4xf32>
    train.entry @update {
      %w = train.get @w : tensor<4xf32>
      %n = nn.kernel (%w) ... {plan.launches = [#plan.launch_spec<@k(0, 1)>], plan.may_alias = [array<i64: 0, 0>]}
      train.set @w, %n : tensor<4xf32>
    }
    ```
    After:
    ```mlir
    plan.arena @persistent bytes 64
    plan.buffer @w in @persistent at 0 bytes 16 of f32 parameter
    plan.entry @update flops 0 {
      plan.launch @k [#plan.operand<@w + 0>, #plan.operand<@w + 0>] "nn.kernel"
    }
    ```
  }];
  let dependentDialects = ["::trainc::plan::PlanDialect"];
}

#endif
