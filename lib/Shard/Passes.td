#ifndef TRAINC_SHARD_PASSES
#define TRAINC_SHARD_PASSES

include "mlir/Pass/PassBase.td"

def Flatten : Pass<"flatten", "::mlir::ModuleOp"> {
  let summary = "puts trained parameters that are updated alike into one flat state, of which each rank can keep a part";
  let description = [{
    In a program of several ranks, or one that rounds at random, some parameters of a unit (`wrap` of the program's `sharding`) become one
    bucket: those with the same learning-rate scale and weight decay. In a program that computes in bf16 or f16, be it in the
    evaluation alone, parameters that it keeps in f32 have buckets of their own.

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

    A bucket holds its parameters' elements one after the other. Each parameter begins at a multiple of 256, and zeros fill the bucket up
    to a multiple of 256 for each rank. With `zero_stage 3` frozen parameters become buckets too. Reads become `dist.member`, writes and
    gradients are packed, and a group of the program carries the bucket's settings. What follows (accumulation, norm, clipping, update)
    then works on few large tensors.
  }];
  let dependentDialects = ["::trainc::dist::DistDialect", "::trainc::train::TrainDialect"];
}

def NarrowGathers : Pass<"narrow-gathers", "::mlir::ModuleOp"> {
  let summary = "casts parts of parameters before they are gathered, where only that type is read";
  let description = [{
    An entry may read parameters in a lower type than that in which ranks hold their parts, such as an evaluation in bf16 of a run in fp32.
    What is cast of each member is cast of the whole bucket instead, where all that the entry reads of the bucket are casts to one type of
    fewer bits.

    ```mlir
    %flat = train.get @bucket.0 : tensor<512xf32>
    %w = dist.member %flat at 0 : tensor<512xf32> -> tensor<4x2xf32>
    %low_w = nn.convert %w to bf16 : tensor<4x2xf32>
    %b = dist.member %flat at 256 : tensor<512xf32> -> tensor<2xf32>
    %low_b = nn.convert %b to bf16 : tensor<2xf32>
    ```
    becomes
    ```mlir
    %flat = train.get @bucket.0 : tensor<512xf32>
    %low = nn.convert %flat to bf16 : tensor<512xf32>
    %low_w = dist.member %low at 0 : tensor<512xbf16> -> tensor<4x2xbf16>
    %low_b = dist.member %low at 256 : tensor<512xbf16> -> tensor<2xbf16>
    ```

    `shard` then lets each rank cast its part, and gathers what is cast: half the bytes. Buckets that ranks hold whole stay as they are, and
    so do those of which something is read in f32. `flatten` puts parameters that are kept in f32 into buckets of their own.
  }];
  let dependentDialects = ["::trainc::nn::NNDialect", "::trainc::dist::DistDialect"];
}

def Shard : Pass<"shard", "::mlir::ModuleOp"> {
  let summary = "divides the step's samples over ranks: sums over ranks become collectives";
  let description = [{
    Every rank runs the same entries on its own samples. What all samples add to, a `train.sum_over_ranks`, becomes an all-reduce.

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

    What ranks agree on as the largest, a `train.max_over_ranks`, is gathered from all, and each rank takes the maximum: collectives only add.

    ```mlir
    %largest = train.max_over_ranks %m : tensor<2xf32>
    ```
    becomes, of 4 ranks,
    ```mlir
    %pending = dist.all_gather_start %m in all : tensor<2xf32> -> tensor<8xf32>
    %all = dist.wait %pending : tensor<8xf32>
    %rows = nn.reshape %all to [4, 2] : tensor<8xf32>
    %largest = nn.reduce max %rows over [0] : tensor<4x2xf32>
    ```

    An all-reduce starts as soon as the rank's own value is known, and is waited for where the sum was. That is data parallelism: ZeRO
    stage 0, FSDP's NO_SHARD.

    From `zero_stage 1` on, sums that dimension 0 divides by the number of ranks are reduce-scattered. What is computed from such a sum
    is computed of a rank's part alone, and the optimizer's states shrink to a part. With `zero_stage 2` the states of gradients shrink
    too (FSDP's SHARD_GRAD_OP). At stage 1 a sum that is added to gradients in each micro-batch is an exception: every rank keeps it
    whole until the update.

    Updated parameters are gathered. So is what needs a whole value, such as the norm's sum over chunks: its order is one for all
    numbers of ranks.

    In groups of ranks (`hybrid_shard`) a sum is reduce-scattered inside each and all-reduced across them. Groups that are no power of
    two are no subtrees of the sum over all ranks. There the sum is all-reduced over all ranks, and a rank takes its part of it.

    What the ranks of a group sum of bf16 or f16 numbers (`reduce = bf16`) stays f32 until it is summed across groups. So a sum is rounded
    once, and has the bits that it has without groups.

    ```mlir
    %sum = train.sum_over_ranks %g : tensor<512xbf16>
    ```
    becomes, of 4 ranks in groups of 2,
    ```mlir
    %0 = dist.reduce_scatter_start %g in shard : tensor<512xbf16> -> tensor<256xf32>
    %1 = dist.wait %0 : tensor<256xf32>
    %2 = dist.all_reduce_start %1 in replica : tensor<256xf32>
    %3 = dist.wait %2 : tensor<256xf32>
    %sum = nn.convert %3 to bf16 : tensor<256xf32>
    ```
  }];
  let dependentDialects = ["::trainc::dist::DistDialect", "::trainc::nn::NNDialect", "::trainc::train::TrainDialect"];
}

def Reshard : Pass<"reshard", "::mlir::ModuleOp"> {
  let summary = "drops gathered parameters while other units are computed, and gathers them again";
  let description = [{
    With `zero_stage 3` each unit's parameters are gathered where they are first read. This pass gathers them once more before they are
    read again, if parameters of another unit are read between.

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

    Between forward and backward their memory is then free (FSDP's `reshard_after_forward`, on unless the program's `sharding` says no).
    They stay if the parameters read between have fewer elements than its `max_reuse_distance`.
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
