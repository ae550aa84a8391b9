#ifndef TRAINC_OPTIMIZER_PASSES
#define TRAINC_OPTIMIZER_PASSES

include "mlir/Pass/PassBase.td"

def Optimizer : Pass<"optimizer", "::mlir::ModuleOp"> {
  let summary = "replaces train.gradient by the optimizer's update";
  let description = [{
    Replaces every `train.gradient` by the update rule of `train.program`.

    ```mlir
    train.gradient @w, %g : tensor<4x3xf32>
    ```
    becomes, for SGD without momentum or clipping,
    ```mlir
    %squares = nn.square %g : tensor<4x3xf32>
    %total = nn.reduce sum %squares over [0, 1] : tensor<4x3xf32>
    %norm = nn.sqrt %total : tensor<f32>
    train.set @grad_norm, %norm : tensor<f32>
    ...                                        // %finite: whether norm and loss are finite
    %w = train.get @w : tensor<4x3xf32>
    %lr = train.get @lr : tensor<f32>
    %rate = nn.broadcast %lr to [4, 3] : tensor<f32>
    %step = nn.mul %rate, %g : tensor<4x3xf32>, tensor<4x3xf32>
    %new = nn.sub %w, %step : tensor<4x3xf32>, tensor<4x3xf32>
    %kept = nn.select %finite, %new, %w : tensor<4x3xi1>, tensor<4x3xf32>, tensor<4x3xf32>
    train.set @w, %kept : tensor<4x3xf32>
    ```

    Without accumulation, the update is at the end of `@micro_step`. With accumulation, gradients are added to states `grad.<parameter>`,
    which `@begin_step` zeroes, and a new entry `@update` reads them. If several ranks sum gradients once a step (`sync_gradients step`), there is
    no `@update`, unless the program has `reproducible ranks`. Instead, `@last_micro_step`, a copy of `@micro_step`, runs the step's
    last micro-batch, sums the accumulated gradients over ranks, and updates. Thus sums over ranks overlap with the rest of its backward.

    The update computes the global norm of all gradients before clipping (state `grad_norm`). It scales gradients by min(1, clip/(norm +
    1e-6)), as PyTorch does. It writes states only if norm and loss are finite (state `finite`), so that a non-finite step changes nothing.

    In a program with `precision fp16`, gradients are those of the scaled loss (pass `scale-loss`). They are summed scaled, and divided by
    the scale for the norm and the update. A dynamic scale (state `loss_scale`) halves in each non-finite step, but not below
    1. It doubles after `loss-scale-window` consecutive finite steps, which the state `loss_scale_good_steps` counts, unless it would become
    infinite. The host gets the step's scale (`step_loss_scale`), and whether the step is skipped while the scale can still shrink (`overflow`).

    With `product_type fp8` the `train.magnitudes` of the pass `scale-operands` become the scales of the next step. The
    maximum is taken over micro-batches and ranks (`train.max_over_ranks`). A non-finite magnitude makes the step non-finite. Each history
    of 16 steps drops its oldest number and appends this step's. The new scale is the smallest power of two with which the maximum of the
    history is at most the type's largest number. It does not change if the whole history is 0.

    ```mlir
    train.magnitudes %largest of @fp8_scales.values history @fp8_amaxes.values limit 448.0 : tensor<2xf32>
    ```
    becomes
    ```mlir
    ...                                        // %rows: the histories, with %largest as the last column
    %peaks = nn.reduce max %rows over [1] : tensor<2x16xf32>
    %limit = nn.constant 448 : tensor<2xf32>
    %room = nn.div %limit, %peaks : tensor<2xf32>, tensor<2xf32>
    %factors = nn.power_of_two %room : tensor<2xf32>
    %scales = nn.reciprocal %factors : tensor<2xf32>
    ...                                        // %next: the scales 16 times each, or the old ones
    %kept = nn.select %finite, %next, %old : tensor<32xi1>, tensor<32xf32>, tensor<32xf32>
    train.set @fp8_scales.values, %kept : tensor<32xf32>
    ```

    With `optimizer_states bf16` the moments are bf16 states, and with `param_type bf16` so are parameters. They are read as
    f32, and the update computes in f32. Values are rounded stochastically (`nn.stochastic_round`) only when they are written, so that small
    changes accumulate:

    ```mlir
    %seed = train.get @seed : tensor<i64>
    %step = train.get @step : tensor<i64>
    %numbers = train.get @chunks.bucket.0 : tensor<2xi64>
    %column = nn.reshape %numbers to [2, 1] : tensor<2xi64>
    %rows = nn.broadcast %column to [2, 256] : tensor<2x1xi64>
    %chunks = nn.reshape %rows to [512] : tensor<2x256xi64>
    %low = nn.stochastic_round %mean in %chunks draw 1 seed %seed step %step : tensor<512xf32>, tensor<512xi64>, tensor<i64>, tensor<i64>
    %kept = nn.select %finite, %low, %old : tensor<512xi1>, tensor<512xbf16>, tensor<512xbf16>
    train.set @exp_avg.bucket.0, %kept : tensor<512xbf16>
    ```

    All parameters are then members of flat states (pass `flatten`), also on one rank. A state `chunks.<bucket>` numbers the chunks of a
    flat state, consecutively through all trained parameters in the order of their names. So an element's random numbers do not depend on
    the layout. `@refresh` computes these states, and checkpoints do not store them.

    The optimizer's own states are `exp_avg.<parameter>`, `exp_avg_sq.<parameter>`, `momentum.<parameter>`, `bias_correction1` and
    `bias_correction2`; `@init` zeroes them. A bias correction is 1 - beta^t, advanced as c beta + (1 - beta), which does not cancel.
  }];
  let options = [Option<"lossScaleWindow", "loss-scale-window", "int64_t", "2000",
                        "Consecutive finite steps that double a dynamic loss scale">];
  let dependentDialects = ["::trainc::dist::DistDialect", "::trainc::nn::NNDialect", "::trainc::train::TrainDialect"];
}

def TreeAccumulate : Pass<"tree-accumulate", "::mlir::ModuleOp"> {
  let summary = "sums micro-batches over a binary tree, so that bits do not depend on the number of ranks";
  let description = [{
    Changes programs with `reproducible ranks`, which accumulate 2^k micro-batches. Ranks are summed over a binary tree of
    their numbers. The pass sums each rank's micro-batches over a subtree: ((0 + 1) + (2 + 3)) + ... Together these form one tree over the
    step's micro-batches, which does not depend on the number of micro-batches per rank.

    ```mlir
    %old = train.get @grad.w : tensor<4xf32>
    %sum = nn.add %old, %g : tensor<4xf32>, tensor<4xf32>
    train.set @grad.w, %sum : tensor<4xf32>
    ```
    becomes, for 4 micro-batches (`partial.0.grad.w` also is zeroed),
    ```mlir
    %one = train.get @partial.0.grad.w : tensor<4xf32>
    %two = train.get @grad.w : tensor<4xf32>
    %sum2 = nn.add %one, %g : tensor<4xf32>, tensor<4xf32>
    %next0 = nn.select %completes2, %one, %g : tensor<4xi1>, tensor<4xf32>, tensor<4xf32>
    train.set @partial.0.grad.w, %next0 : tensor<4xf32>
    %sum4 = nn.add %two, %sum2 : tensor<4xf32>, tensor<4xf32>
    %waiting = nn.select %completes2, %sum2, %two : tensor<4xi1>, tensor<4xf32>, tensor<4xf32>
    %next1 = nn.select %completes4, %sum4, %waiting : tensor<4xi1>, tensor<4xf32>, tensor<4xf32>
    train.set @grad.w, %next1 : tensor<4xf32>
    ```

    Each state that `@begin_step` zeroes and `@micro_step` adds to (gradients, the loss) becomes a binary counter. States `partial.0.NAME`,
    `partial.1.NAME`, ..., and NAME itself as the highest, hold sums of runs of 1, 2, 4, ... micro-batches. A micro-batch completes a run of
    2^l if its number ends in l binary ones; its value is then added level by level.

    One entry runs all micro-batches. Therefore every level's next value is computed, and a select discards those of incomplete runs. After
    the last micro-batch NAME holds the sum of all.
  }];
  let dependentDialects = ["::trainc::nn::NNDialect", "::trainc::train::TrainDialect"];
}

#endif
