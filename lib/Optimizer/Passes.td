#ifndef TRAINC_OPTIMIZER_PASSES
#define TRAINC_OPTIMIZER_PASSES

include "mlir/Pass/PassBase.td"

def Optimizer : Pass<"optimizer", "::mlir::ModuleOp"> {
  let summary = "Replaces train.gradient by the optimizer's update";
  let description = [{
    What to do is in `train.program`. Without accumulation the update stands at the end of `@micro_step`. With it, gradients are
    added to states `grad.<parameter>`, which `@begin_step` zeroes, and a new entry `@update` uses them.

    The update computes the global norm of all gradients (state `grad_norm`, before clipping), scales gradients by
    min(1, clip/(norm + 1e-6)) as PyTorch does, and writes every state only if norm and loss are finite (state `finite`), so that
    a bad step changes nothing. The optimizer's own states are `exp_avg.<parameter>`, `exp_avg_sq.<parameter>`,
    `momentum.<parameter>`, `bias_correction1` and `bias_correction2` (1 - beta^t, advanced as c beta + (1 - beta), which does
    not cancel); `@init` zeroes them.

    ```mlir
    train.gradient @w, %g : tensor<4x3xf32>
    ```
    becomes, for SGD without momentum or clipping,
    ```mlir
    %squares = nn.square %g : tensor<4x3xf32>
    %total = nn.reduce sum %squares over [0, 1] : tensor<4x3xf32>
    %norm = nn.sqrt %total : tensor<f32>
    train.set @grad_norm, %norm : tensor<f32>
    ...                                        // %finite: norm and loss are
    %w = train.get @w : tensor<4x3xf32>
    %lr = train.get @lr : tensor<f32>
    %rate = nn.broadcast %lr to [4, 3] : tensor<f32>
    %step = nn.mul %rate, %g : tensor<4x3xf32>, tensor<4x3xf32>
    %new = nn.sub %w, %step : tensor<4x3xf32>, tensor<4x3xf32>
    %kept = nn.select %finite, %new, %w : tensor<4x3xi1>, tensor<4x3xf32>, tensor<4x3xf32>
    train.set @w, %kept : tensor<4x3xf32>
    ```
  }];
  let dependentDialects = ["::trainc::nn::NNDialect", "::trainc::train::TrainDialect"];
}

#endif
