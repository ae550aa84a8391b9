#ifndef TRAINC_SCHEDULE_PASSES
#define TRAINC_SCHEDULE_PASSES

include "mlir/Pass/PassBase.td"

def ScheduleCollectives : Pass<"schedule-collectives", "::mlir::ModuleOp"> {
  let summary = "decides when collectives begin and are waited for, so that they run beside the computation";
  let description = [{
    Collectives run one after the other, in the order of their starts, beside the computation. This pass moves

    * the start of a sum over ranks to where its operand is known, and its wait to where the sum is needed, but before the second next
      sum starts: what is summed is freed while the backward goes on (at most two sums are in flight);
    * the start of a gather of parameters to where the unit is computed that comes `prefetch` units before (`sharding` of the
      train.program; the memory of so many units more is needed), and its wait to where the parameters are read;
    * waits to the order of starts: one that comes later would wait for what is known to be done.

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
    %w0 = dist.wait %0 : tensor<8xf32>
    %1 = dist.all_gather_start %part1 : tensor<4xf32> -> tensor<8xf32>
    %y = nn.kernel (%x, %w0) ...
    %w1 = dist.wait %1 : tensor<8xf32>
    %z = nn.kernel (%y, %w1) ...
    ```
  }];
  let dependentDialects = ["::trainc::dist::DistDialect", "::trainc::train::TrainDialect"];
}

#endif
