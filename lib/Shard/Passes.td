#ifndef TRAINC_SHARD_PASSES
#define TRAINC_SHARD_PASSES

include "mlir/Pass/PassBase.td"

def Shard : Pass<"shard", "::mlir::ModuleOp"> {
  let summary = "divides the step's samples over ranks: sums over ranks become collectives";
  let description = [{
    Every rank runs the same entries on its own samples and holds all states (data parallelism: ZeRO stage 0, FSDP's
    NO_SHARD). What all samples add to, a `train.sum_over_ranks`, becomes an all-reduce, which starts as soon as the rank's own
    value is known and is waited for where the sum was.

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

def VerifySpmd : Pass<"verify-spmd", "::mlir::ModuleOp"> {
  let summary = "checks the phase spmd: one rank's entries, no sum over ranks left to make";
  let description = [{
    Refuses a `train.sum_over_ranks` (`shard` replaces it) and a `dist` op in a program of one rank.

    ```mlir
    %sum = train.sum_over_ranks %g : tensor<4x2xf32>  // error: is left in phase 'spmd'
    ```
  }];
}

#endif
