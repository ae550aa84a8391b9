#ifndef TRAINC_SCHEDULE_PASSES
#define TRAINC_SCHEDULE_PASSES

include "mlir/Pass/PassBase.td"

def BucketCollectives : Pass<"bucket-collectives", "::mlir::ModuleOp"> {
  let summary = "combines adjacent collectives into messages";
  let description = [{
    Combines collectives into messages. `schedule-collectives` later makes the starts of a message adjacent.

    ```mlir
    %0 = dist.all_gather_start %matrices in shard : tensor<4xf32> -> tensor<8xf32>
    %w0 = dist.wait %0 : tensor<8xf32>
    %1 = dist.all_gather_start %vectors in shard : tensor<2xf32> -> tensor<4xf32>
    %w1 = dist.wait %1 : tensor<4xf32>
    %y = nn.kernel (%w0, %w1) ...
    ```
    becomes
    ```mlir
    %0 = dist.all_gather_start %matrices in shard message 0 : tensor<4xf32> -> tensor<8xf32>
    %w0 = dist.wait %0 : tensor<8xf32>
    %1 = dist.all_gather_start %vectors in shard message 0 : tensor<2xf32> -> tensor<4xf32>
    %w1 = dist.wait %1 : tensor<4xf32>
    %y = nn.kernel (%w0, %w1) ...
    ```

    Collectives of one kind and group become one message in two cases:

    * They are consecutive and move tensors of one unit of parameters: its gathers, or the sums of its gradients.
    * They have at most `allgather_bucket_size` or `reduce_bucket_size` elements in total. Each message costs a
      synchronisation of the ranks, however small it is.

    Gathers of parameters are combined in the order in which the parameters are read, other collectives in the order in which their operands
    are known. The result of one must not be needed before the others can start. Ops that only store results of collectives (writes of
    gathered states, and additions to gradient states) are deferred until the states are read, or to the end.
  }];
  let dependentDialects = ["::trainc::dist::DistDialect", "::trainc::train::TrainDialect"];
}

def ScheduleCollectives : Pass<"schedule-collectives", "::mlir::ModuleOp"> {
  let summary = "schedules starts and waits of collectives so that they overlap with computation";
  let description = [{
    A list scheduler for two streams. Computing ops keep their order. Messages (see `bucket-collectives`) run concurrently, one after
    another, in the order of their starts.

    ```mlir
    %0 = dist.all_gather_start %part0 in shard : tensor<4xf32> -> tensor<8xf32>
    %w0 = dist.wait %0 : tensor<8xf32>
    %y = nn.kernel (%x, %w0) ...
    %1 = dist.all_gather_start %part1 in shard : tensor<4xf32> -> tensor<8xf32>
    %w1 = dist.wait %1 : tensor<8xf32>
    %z = nn.kernel (%y, %w1) ...
    ```
    becomes, with `prefetch = 1`,
    ```mlir
    %0 = dist.all_gather_start %part0 in shard : tensor<4xf32> -> tensor<8xf32>
    %1 = dist.all_gather_start %part1 in shard : tensor<4xf32> -> tensor<8xf32>
    %w0 = dist.wait %0 : tensor<8xf32>
    %y = nn.kernel (%x, %w0) ...
    %w1 = dist.wait %1 : tensor<8xf32>
    %z = nn.kernel (%y, %w1) ...
    ```

    Times are predicted for a reference machine, so that decisions do not depend on the compiling machine. The scheduler visits the ops in
    order. Before each it starts the messages that can begin before the op ends, the most urgent first:

    * A sum over ranks starts when its operand is known. When two later sums are known, it becomes urgent and its wait is placed. So at most
      two are in flight, and their operands are freed during the backward. With `prefetch = 0`, where memory is scarce, at most one is in
      flight.
    * A gather of parameters starts when the unit that is `prefetch` units earlier is computed. It starts later if `limit_all_gathers`
      others are in flight, or if more than `max_live_parameters` elements would be gathered. The cast of the rank's
      shard moves with it.
    * Messages that the op reads start regardless of limits.

    A wait is placed before the first reader of its value, or before the wait of a later message. Ops that only store a sum, such as its
    addition to the gradients of other micro-batches, follow its wait.
  }];
  let dependentDialects = ["::trainc::dist::DistDialect", "::trainc::plan::PlanDialect", "::trainc::train::TrainDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"]; // for predicting costs of kernels
}

#endif
