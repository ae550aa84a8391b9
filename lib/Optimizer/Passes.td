#ifndef TRAINC_OPTIMIZER_PASSES
#define TRAINC_OPTIMIZER_PASSES

include "mlir/Pass/PassBase.td"

def Optimizer : Pass<"optimizer", "::mlir::ModuleOp"> {
  let summary = "Replaces train.gradient by the optimizer's update";
  let description = [{
    `train.program` says how parameters are updated. Every entry's `train.gradient` goes, and the update takes its place.

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

    Without accumulation the update stands at the end of `@micro_step`. With it, gradients are added to states `grad.<parameter>`, which
    `@begin_step` zeroes, and a new entry `@update` uses them. Several ranks that sum gradients once a step (`sync = "step"`) get no
    `@update`, unless the program says `reproducible = "ranks"`. They get `@last_micro_step`, a copy of `@micro_step` that takes the
    step's last micro-batch. It sums over ranks what has been added up, and updates. So sums travel while the rest of its backward is
    computed.

    The update computes the global norm of all gradients before clipping (state `grad_norm`). It scales gradients by min(1, clip/(norm +
    1e-6)), as PyTorch does. It writes every state only if norm and loss are finite (state `finite`), so a bad step changes nothing.

    In a program with `precision fp16` gradients are those of a multiple of the loss (pass `scale-loss`). They are summed as they are, and
    divided by the scale for the norm and the update. With a dynamic scale the state `loss_scale` halves where a step is not finite, for
    the last of `loss_scale_hysteresis` such steps in a row and each behind it. It doubles after `loss_scale_window` finite steps in a
    row. It does not shrink below `loss_scale_min`, nor become infinite. The states `loss_scale_good_steps` and `loss_scale_hysteresis`
    count. The host learns the step's scale (`step_loss_scale`), and whether the step is skipped while the scale may still shrink
    (`overflow`).

    With `precision bf16 (products = fp8)` the `train.magnitudes` of the pass `scale-operands` become the scales of the next step. Micro-batches
    and ranks (`train.max_over_ranks`) agree on the largest. A magnitude that is not finite makes the step one that is not. Each history of
    16 steps loses its oldest number and gets this step's. A scale becomes the smallest power of two with which the largest of them is at
    most the type's largest number. It stays where all are 0.

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

    With `optimizer_states bf16` the moments are states of bf16, and with `precision bf16 (params = bf16)` parameters are. They are
    read as f32. The update computes in f32, and goes on with what it has computed. What it writes is rounded at random
    (`nn.stochastic_round`), so that small changes add up:

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

    All parameters are flat then (pass `flatten`), on one rank too. A state `chunks.<bucket>` numbers the chunks of a flat one: through
    all trained parameters, in the order of their names. So an element has the same random numbers wherever it lies. `@refresh` makes
    these states, and no checkpoint holds them.

    The optimizer's own states are `exp_avg.<parameter>`, `exp_avg_sq.<parameter>`, `momentum.<parameter>`, `bias_correction1` and
    `bias_correction2`; `@init` zeroes them. A bias correction is 1 - beta^t, advanced as c beta + (1 - beta), which does not cancel.
  }];
  let dependentDialects = ["::trainc::nn::NNDialect", "::trainc::train::TrainDialect"];
}

def TreeAccumulate : Pass<"tree-accumulate", "::mlir::ModuleOp"> {
  let summary = "sums micro-batches over a binary tree, so that the bits do not depend on the number of ranks";
  let description = [{
    Changes programs with `sharding(reproducible = "ranks")`, which accumulate 2^k micro-batches. Ranks are summed over a binary tree of
    their numbers. The pass makes each rank's micro-batches a subtree of it: ((0 + 1) + (2 + 3)) + ...
    All together are then one tree over the step's micro-batches, and how many of them a rank has makes no difference.

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

    What `@begin_step` zeroes and `@micro_step` adds to (gradients, the loss) becomes a binary counter. States `partial.0.NAME`,
    `partial.1.NAME`, ..., and NAME itself as the highest, each hold the sum of a run of 1, 2, 4, ... micro-batches. A micro-batch
    completes a run of two, four, ... if its number ends in as many ones; it is then added level by level.

    One entry serves all micro-batches. So every level's next value is computed and then selected, which also hides what no run
    completes. After the last micro-batch NAME holds the sum of all.
  }];
  let dependentDialects = ["::trainc::nn::NNDialect", "::trainc::train::TrainDialect"];
}

#endif
