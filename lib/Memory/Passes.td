#ifndef TRAINC_MEMORY_PASSES
#define TRAINC_MEMORY_PASSES

include "mlir/Pass/PassBase.td"

def PlanMemoryPass : Pass<"plan-memory", "::mlir::ModuleOp"> {
  let summary = "gives every value an address and turns entries into instructions";
  let description = [{
    Values of an entry become buffers, and its ops become instructions.

    Before:
    ```mlir
    train.state parameter @w : tensor<4xf32>
    train.entry @update {
      %w = train.get @w : tensor<4xf32>
      %n = nn.kernel (%w) ... {plan.launches = [#plan.launch_spec<@"rows#0"(0, 1)>], plan.may_alias = [array<i64: 0, 0>]}
      train.set @w, %n : tensor<4xf32>
    }
    ```
    After:
    ```mlir
    plan.arena @persistent bytes 64 persistent
    plan.buffer @w in @persistent at 0 bytes 16 of f32 parameter
    plan.entry @update flops 0 {
      plan.launch @"rows#0" [#plan.operand<@w + 0>, #plan.operand<@w + 0>] "nn.kernel"
    }
    ```

    * A value that is read from a state, or written to it in place, shares the state's buffer.
    * If an op may overwrite a dead operand, its result gets the operand's buffer.
    * Any other value is a range of the scratch arena. Values that are live at the same time do not overlap.
    * An offloaded state is copied to scratch, and back. `fetched` and `stored` of the scratch buffer name the state, or the piece of it,
      that is the source or destination of the copy.

    A read of an offloaded state may request to begin some ops earlier (`train.get @s {plan.ahead = 3}`). It does so unless that would need
    a larger arena.

    If a value cannot be computed in place, it is copied. A rank's shard of a sum is copied if only the shard outlives the sum. Kernels must
    have been summarised (`summarise-kernels`); their code is not needed. The pass first repeats the proof of `verify-scheduled`.
  }];
  let dependentDialects = ["::trainc::plan::PlanDialect"];
}

def OrderStores : Pass<"order-stores", "::mlir::ModuleOp"> {
  let summary = "orders stores by when the next entry needs their memory";
  let description = [{
    An entry's last stores to disk may overlap with the next micro-step. An instruction of that micro-step waits if it writes memory that a
    store still reads, and a disk runs one copy after another. Therefore stores whose memory is needed late are placed last.

    Before:
    ```mlir
    plan.entry @micro_step flops 0 {
      plan.zero <@a + 0> bytes 4096 "a"                      // of @m's memory
      ...
      plan.launch @"rows#0" [..., #plan.operand<@n + 0>] "n"
      plan.copy <@n + 0> to <@disk.n + 0> bytes 4096 on disk "n"
      plan.launch @"rows#0" [..., #plan.operand<@m + 0>] "m"
      plan.copy <@m + 0> to <@disk.m + 0> bytes 4096 on disk "m"
    }
    ```
    After:
    ```mlir
    plan.entry @micro_step flops 0 {
      plan.zero <@a + 0> bytes 4096 "a"
      ...
      plan.launch @"rows#0" [..., #plan.operand<@n + 0>] "n"
      plan.launch @"rows#0" [..., #plan.operand<@m + 0>] "m"
      plan.copy <@m + 0> to <@disk.m + 0> bytes 4096 on disk "m"
      plan.copy <@n + 0> to <@disk.n + 0> bytes 4096 on disk "n"
    }
    ```

    Times are predicted for the reference machine. Whenever the disk is free, the store begins whose memory is needed first among those
    whose values are known ("earliest deadline first", Liu and Layland 1973). A store is not moved if a later instruction of its entry
    writes its memory; no store is moved if two have the same destination. The pass is for targets on which copies can outlast entries, i.e.
    CPUs.
  }];
}

def OrderStreamsPass : Pass<"order-streams", "::mlir::ModuleOp"> {
  let summary = "adds each instruction's dependencies on other streams";
  let description = [{
    Streams run concurrently, each in the order of its instructions. This pass adds each instruction's dependencies on other streams.

    Before:
    ```mlir
    plan.entry @update flops 0 {
      plan.zero <@g + 0> bytes 64 "g"
      plan.collective all_reduce in shard [#plan.range<<@g + 0> to <@g + 0> elements 16 of f32>] "g"
      plan.zero <@x + 0> bytes 64 "x"
      plan.copy <@g + 0> to <@x + 0> bytes 64 "y"
    }
    ```
    After:
    ```mlir
    plan.entry @update flops 0 {
      plan.zero <@g + 0> bytes 64 "g"
      plan.collective all_reduce in shard [#plan.range<<@g + 0> to <@g + 0> elements 16 of f32>] "g" after [0]
      plan.zero <@x + 0> bytes 64 "x"
      plan.copy <@g + 0> to <@x + 0> bytes 64 "y" after [1]
    }
    ```

    If two instructions on different streams access the same bytes and one of them writes, the later one is ordered after the earlier one.
    So a collective begins as soon as its operands are known and nothing reads the bytes that it overwrites. Readers of its results depend
    on it, and so do instructions that reuse their memory.

    Implied dependencies are omitted: for each stream only the last instruction is listed, and none that another dependency implies.
  }];
}

#endif
