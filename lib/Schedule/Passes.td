#ifndef TRAINC_SCHEDULE_PASSES
#define TRAINC_SCHEDULE_PASSES

include "mlir/Pass/PassBase.td"

def BucketCollectives : Pass<"bucket-collectives", "::mlir::ModuleOp"> {
  let summary = "lets collectives that follow each other go together";
  let description = [{
    Puts collectives that can go together into one message. `schedule-collectives` later moves the starts of a message to one place.

    ```mlir
    %0 = dist.all_gather_start %matrices : tensor<4xf32> -> tensor<8xf32>
    %w0 = dist.wait %0 : tensor<8xf32>
    %1 = dist.all_gather_start %vectors : tensor<2xf32> -> tensor<4xf32>
    %w1 = dist.wait %1 : tensor<4xf32>
    %y = nn.kernel (%w0, %w1) ...
    ```
    becomes
    ```mlir
    %0 = dist.all_gather_start %matrices message 0 : tensor<4xf32> -> tensor<8xf32>
    %w0 = dist.wait %0 : tensor<8xf32>
    %1 = dist.all_gather_start %vectors message 0 : tensor<2xf32> -> tensor<4xf32>
    %w1 = dist.wait %1 : tensor<4xf32>
    %y = nn.kernel (%w0, %w1) ...
    ```

    Collectives of one kind and group become one message in two cases:

    * They move tensors of one unit of parameters, one after the other: its gathers, the sums of its gradients.
    * All together have at most `gather_bucket` or `reduce_bucket` elements (`sharding` of the train.program). Each message costs a
      meeting of the ranks, however small it is.

    Gathers of parameters are taken in the order in which these are read, others in the order in which their operands are known. What
    one of them makes is not needed before the others can start. Some ops only store what collectives bring: writes of gathered states,
    and additions to the states of gradients. They are put off until the states are read, or to the end.
  }];
  let dependentDialects = ["::trainc::dist::DistDialect", "::trainc::train::TrainDialect"];
}

def ScheduleCollectives : Pass<"schedule-collectives", "::mlir::ModuleOp"> {
  let summary = "decides when collectives begin and are waited for, so that they run beside the computation";
  let description = [{
    A list scheduler for two streams. Computing ops stay in their order. Messages (see `bucket-collectives`) run beside them, one after
    the other, in the order of their starts.

    ```mlir
    %0 = dist.all_gather_start %part0 : tensor<4xf32> -> tensor<8xf32>
    %w0 = dist.wait %0 : tensor<8xf32>
    %y = nn.kernel (%x, %w0) ...
    %1 = dist.all_gather_start %part1 : tensor<4xf32> -> tensor<8xf32>
    %w1 = dist.wait %1 : tensor<8xf32>
    %z = nn.kernel (%y, %w1) ...
    ```
    becomes, with `prefetch = 1`,
    ```mlir
    %0 = dist.all_gather_start %part0 : tensor<4xf32> -> tensor<8xf32>
    %1 = dist.all_gather_start %part1 : tensor<4xf32> -> tensor<8xf32>
    %w0 = dist.wait %0 : tensor<8xf32>
    %y = nn.kernel (%x, %w0) ...
    %w1 = dist.wait %1 : tensor<8xf32>
    %z = nn.kernel (%y, %w1) ...
    ```

    Times come from the cost model for a machine of reference, so that all machines decide the same. The scheduler goes through the ops.
    Before each it starts the messages that can begin until the op ends, the most urgent first:

    * A sum over ranks starts when its operand is known. It is urgent once two others are known, and is then waited for. So at most two
      are in flight, and what is summed is freed while the backward goes on. With `prefetch = 0` memory is short: there one is in flight.
    * A gather of parameters starts when the unit is computed that comes `prefetch` units before. It starts later if `gathers_in_flight`
      others are under way, or if more than `max_live` elements would be gathered (`sharding` of the train.program).
      What casts the rank's part for it moves with it.
    * What the op reads starts whatever the limits.

    Waits stand where values are read, or where a message is waited for that started later. What only stores a sum, such as its addition
    to the gradients of other micro-batches, follows the wait for it.
  }];
  let dependentDialects = ["::trainc::dist::DistDialect", "::trainc::plan::PlanDialect", "::trainc::train::TrainDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"]; // kernels are priced by their bodies
}

#endif
