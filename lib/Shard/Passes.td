#ifndef TRAINC_SHARD_PASSES
#define TRAINC_SHARD_PASSES

include "mlir/Pass/PassBase.td"

def Flatten : Pass<"flatten", "::mlir::ModuleOp"> {
  let summary = "puts trained parameters that are updated alike into one flat state, of which each rank can keep a part";
  let description = [{
    In a program of several ranks, parameters of a unit (`wrap` of the program's `sharding`) with the same learning-rate scale and weight
    decay become one bucket, with `zero_stage 3` frozen ones too: their elements one after the other, each from a multiple of 256 on, and zeros up to a multiple of 256 for each rank. Reads become
    `dist.member`, writes and gradients are packed, and a group of the program carries the bucket's settings. What
    follows (accumulation, norm, clipping, update) then works on few large tensors.

    ```mlir
    %w = train.get @w : tensor<4x2xf32>
    ...
    train.gradient @w, %g : tensor<4x2xf32>
    ```
    becomes
    ```mlir
    %flat = train.get @bucket.0 : tensor<512xf32>
    %w = dist.member %flat at 0 : tensor<512xf32> -> tensor<4x2xf32>
    ...
    %gradients = dist.pack %g at [0] : tensor<4x2xf32> -> tensor<512xf32>
    train.gradient @bucket.0, %gradients : tensor<512xf32>
    ```
  }];
  let dependentDialects = ["::trainc::dist::DistDialect", "::trainc::train::TrainDialect"];
}

def Shard : Pass<"shard", "::mlir::ModuleOp"> {
  let summary = "divides the step's samples over ranks: sums over ranks become collectives";
  let description = [{
    Every rank runs the same entries on its own samples. What all samples add to, a `train.sum_over_ranks`, becomes an all-reduce, which starts as soon as the rank's own
    value is known and is waited for where the sum was (data parallelism: ZeRO stage 0, FSDP's NO_SHARD).

    From `zero_stage 1` on, sums that dimension 0 divides by the number of ranks are reduce-scattered (but those that stage 1 adds to
    gradients in each micro-batch, which every rank keeps whole until the update), and what is computed from them is computed of a rank's part alone: the optimizer's states shrink to a part, with `zero_stage 2` those of gradients as
    well (FSDP's SHARD_GRAD_OP), and updated parameters are gathered. So is what needs a whole value, such as the norm's sum over chunks: its order
    is one for all numbers of ranks.

    In groups of ranks (`hybrid_shard`) a sum is reduce-scattered inside each and all-reduced across them; or, where groups are no power of two
    and so no subtrees of the sum over all ranks, all-reduced over all, of which a rank takes its part.

    ```mlir
    %g = nn.matmul %y transposed, %x : tensor<8x4xf32>, tensor<8x2xf32>
    %w = train.get @w : tensor<4x2xf32>
    %sum = train.sum_over_ranks %g : tensor<4x2xf32>
    ```
    becomes
    ```mlir
    %g = nn.matmul %y transposed, %x : tensor<8x4xf32>, tensor<8x2xf32>
    %pending = dist.all_reduce_start %g : tensor<4x2xf32>
    %w = train.get @w : tensor<4x2xf32>
    %sum = dist.wait %pending : tensor<4x2xf32>
    ```
  }];
  let dependentDialects = ["::trainc::dist::DistDialect", "::trainc::train::TrainDialect"];
}

def Reshard : Pass<"reshard", "::mlir::ModuleOp"> {
  let summary = "drops gathered parameters while other units are computed, and gathers them again";
  let description = [{
    With `zero_stage 3` each unit's parameters are gathered where they are first read. Where parameters of another unit are read before they
    are read again, as between forward and backward, they are gathered once more behind it, and their memory is free in
    between (FSDP's `reshard_after_forward`, on unless the program's `sharding` says no). They stay where the parameters read between
    have fewer elements than its `max_reuse_distance`.

    ```mlir
    %0 = dist.all_gather_start %part : tensor<4xf32> -> tensor<8xf32>
    %w = dist.wait %0 : tensor<8xf32>
    %y = nn.mul %x, %w : tensor<8xf32>, tensor<8xf32>
    ...                                                   // other units
    %dx = nn.mul %dy, %w : tensor<8xf32>, tensor<8xf32>
    ```
    becomes
    ```mlir
    %0 = dist.all_gather_start %part : tensor<4xf32> -> tensor<8xf32>
    %w = dist.wait %0 : tensor<8xf32>
    %y = nn.mul %x, %w : tensor<8xf32>, tensor<8xf32>
    ...
    %1 = dist.all_gather_start %part : tensor<4xf32> -> tensor<8xf32>
    %again = dist.wait %1 : tensor<8xf32>
    %dx = nn.mul %dy, %again : tensor<8xf32>, tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::trainc::dist::DistDialect", "::trainc::train::TrainDialect"];
}

def VerifySpmd : Pass<"verify-spmd", "::mlir::ModuleOp"> {
  let summary = "checks the phase spmd: one rank's entries, no sum over ranks left to make";
  let description = [{
    Refuses a `train.sum_over_ranks` (`shard` replaces it), and a collective in a program of one rank or in a loop.

    ```mlir
    %sum = train.sum_over_ranks %g : tensor<4x2xf32>  // error: is left in phase 'spmd'
    ```
  }];
}

#endif
