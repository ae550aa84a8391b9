#ifndef TRAINC_SHARD_PASSES
#define TRAINC_SHARD_PASSES

include "mlir/Pass/PassBase.td"

def Flatten : Pass<"flatten", "::mlir::ModuleOp"> {
  let summary = "packs trained parameters with equal settings into flat states, which can be sharded";
  let description = [{
    In a program for several ranks, or with stochastic rounding, the parameters of a unit (`wrap` of the program's `sharding`) that have the
    same learning-rate scale and weight decay become one bucket. In a program that computes in bf16 or f16, even if only in evaluation,
    parameters that are kept in f32 have separate buckets.

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

    A bucket concatenates its parameters. Each parameter begins at a multiple of 256 elements, and the bucket is padded with zeros so that
    each rank has a multiple of 256. With `zero_stage 3` frozen parameters become buckets too. Reads become `dist.member`, writes and
    gradients are packed, and a group of the program carries the bucket's settings. Later passes (accumulation, norm, clipping, update) then
    work on few large tensors.
  }];
  let dependentDialects = ["::trainc::dist::DistDialect", "::trainc::train::TrainDialect"];
}

def NarrowGathers : Pass<"narrow-gathers", "::mlir::ModuleOp"> {
  let summary = "casts shards of parameters before they are gathered, if only the cast is read";
  let description = [{
    An entry may read parameters in a lower type than the shards have, such as an evaluation in bf16 of a run in fp32. If all reads of a
    bucket in the entry are casts to one type of fewer bits, the whole bucket is cast instead of each member.

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

    With `shard`, each rank then casts its shard, and the cast shards are gathered: half the bytes. Unsharded buckets, and buckets with
    reads in f32, are not changed. `flatten` puts parameters that are kept in f32 into separate buckets.
  }];
  let dependentDialects = ["::trainc::nn::NNDialect", "::trainc::dist::DistDialect"];
}

def Shard : Pass<"shard", "::mlir::ModuleOp"> {
  let summary = "replaces sums over ranks by collectives, and shards the update";
  let description = [{
    Every rank runs the same entries on its own samples. A sum over all samples, `train.sum_over_ranks`, becomes an all-reduce.

    ```mlir
    %g = nn.matmul %y transposed, %x : tensor<8x4xf32>, tensor<8x2xf32>
    %w = train.get @w : tensor<4x2xf32>
    %sum = train.sum_over_ranks %g : tensor<4x2xf32>
    ```
    becomes
    ```mlir
    %g = nn.matmul %y transposed, %x : tensor<8x4xf32>, tensor<8x2xf32>
    %pending = dist.all_reduce_start %g in shard : tensor<4x2xf32>
    %w = train.get @w : tensor<4x2xf32>
    %sum = dist.wait %pending : tensor<4x2xf32>
    ```

    For a `train.max_over_ranks` all values are gathered, and each rank computes the maximum, because collectives can only sum.

    ```mlir
    %largest = train.max_over_ranks %m : tensor<2xf32>
    ```
    becomes, on 4 ranks,
    ```mlir
    %pending = dist.all_gather_start %m in shard : tensor<2xf32> -> tensor<8xf32>
    %all = dist.wait %pending : tensor<8xf32>
    %rows = nn.reshape %all to [4, 2] : tensor<8xf32>
    %largest = nn.reduce max %rows over [0] : tensor<4x2xf32>
    ```

    An all-reduce starts right after the rank's own value is known, and its wait is where the sum was. This is data parallelism: ZeRO stage
    0, FSDP's NO_SHARD.

    From `zero_stage 1` on, sums whose dimension 0 is a multiple of the number of ranks are reduce-scattered. Values derived from such a sum
    are computed for the rank's shard only, and optimizer states shrink to shards. With `zero_stage 2` gradient states are sharded too
    (FSDP's SHARD_GRAD_OP). At stage 1, a sum that is added to gradients in each micro-batch is an exception: it is not sharded until the
    update.

    Updated parameters are gathered. Ops that need a whole value gather it as well, such as the norm's sum over chunks, whose order must not
    depend on the number of ranks.

    The pass makes the mesh of the ranks: an axis `shard`, and with groups of ranks (`hybrid_shard`) an axis `replica` before it. A value that
    each rank computes of its own samples is `own` along all axes. A sum changes its placement to replicated, or to sharded along dimension 0
    over `shard`, and collectives follow from the change: a reduce-scatter along `shard` and an all-reduce along `replica`. Groups whose size
    is not a power of two are not subtrees of the sum over all ranks. With such groups the sum is all-reduced over all ranks, and each rank takes
    its shard.

    A group's sums of bf16 or f16 numbers (`reduce = bf16`) stay f32 until they are summed across groups. So the total is rounded once, and
    has the same bits as without groups.

    ```mlir
    %sum = train.sum_over_ranks %g : tensor<512xbf16>
    ```
    becomes, on 4 ranks in groups of 2,
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
  let summary = "frees gathered parameters while other units are computed, and gathers them again";
  let description = [{
    With `zero_stage 3` each unit's parameters are gathered before their first read. If parameters of another unit are read in between, this
    pass gathers them again before the next read.

    ```mlir
    %0 = dist.all_gather_start %part in shard : tensor<4xf32> -> tensor<8xf32>
    %w = dist.wait %0 : tensor<8xf32>
    %y = nn.mul %x, %w : tensor<8xf32>, tensor<8xf32>
    ...                                                   // other units
    %dx = nn.mul %dy, %w : tensor<8xf32>, tensor<8xf32>
    ```
    becomes
    ```mlir
    %0 = dist.all_gather_start %part in shard : tensor<4xf32> -> tensor<8xf32>
    %w = dist.wait %0 : tensor<8xf32>
    %y = nn.mul %x, %w : tensor<8xf32>, tensor<8xf32>
    ...
    %1 = dist.all_gather_start %part in shard : tensor<4xf32> -> tensor<8xf32>
    %again = dist.wait %1 : tensor<8xf32>
    %dx = nn.mul %dy, %again : tensor<8xf32>, tensor<8xf32>
    ```

    Their memory is then free between forward and backward (FSDP's `reshard_after_forward`, true by default). They are kept if the
    parameters read in between have fewer elements than `max_reuse_distance` of the program's `sharding`.
  }];
  let dependentDialects = ["::trainc::dist::DistDialect", "::trainc::train::TrainDialect"];
}

def VerifySpmd : Pass<"verify-spmd", "::mlir::ModuleOp"> {
  let summary = "verifies the phase spmd: one rank's entries, without sums over ranks";
  let description = [{
    Reports an error for a `train.sum_over_ranks` (`shard` replaces it), and for a collective in a loop.

    Derives the placement of each value along each axis of the mesh. States and inputs declare it (`dist.placement`); an input that does not
    is each rank's own. The result of an op is sharded along the dimension that has the label of the operands' sharded dimensions in the op's
    indexing rule, and a partial sum if no dimension has it. Reports an error for an op whose operands do not fit together, for a collective
    whose operand is already summed or whole, and for a write of a value to a state that declares another placement.

    ```mlir
    dist.mesh [shard = 2, tensor = 2]
    train.state parameter @w : tensor<8x6xf32> {dist.placement = #dist.placement<tensor = 0, shard = 1>}
    ...
    %x = train.input "x" micro {dist.placement = #dist.placement<tensor = 1>} : tensor<4x8xf32>
    %w = train.get @w : tensor<8x6xf32>
    %0 = nn.matmul %x, %w : tensor<4x8xf32>, tensor<8x6xf32>  // a partial sum along `tensor`, sharded along dimension 1 over `shard`
    %1 = dist.all_reduce_start %0 in tensor : tensor<4x6xf32>
    ```

    ```mlir
    %sum = train.sum_over_ranks %g : tensor<4x2xf32>  // error: is left in phase 'spmd'
    ```
  }];
}

#endif
