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

    * A value that is read from a state, or written to it in place, is the state's own buffer.
    * If an op may overwrite a dead operand, its result is the operand's buffer.
    * Any other value is a range of the scratch arena. Values that are alive together do not overlap.
    * A state outside of the device's memory is copied to scratch, and back. The buffer in scratch says which state, or part of it, it is
      `fetched` from, and where it is `stored`.

    A read of a state outside may say that it should begin some ops earlier (`train.get @s {plan.ahead = 3}`). It does, as far as that takes
    no larger arena.

    A copy is made if a value could not be made in place. A rank's part of a sum is copied if only the part outlives the sum. Kernels
    must have been summarised (`summarise-kernels`); their code is not needed. The pass first proves anew what `verify-scheduled`
    proves.
  }];
  let dependentDialects = ["::trainc::plan::PlanDialect"];
}

def OrderStores : Pass<"order-stores", "::mlir::ModuleOp"> {
  let summary = "lets those stores go first whose memory the next entry needs first";
  let description = [{
    An entry's last stores to disk may go on beside the micro-step that comes next. An instruction there waits if it writes memory that a store
    still reads, and a disk does one copy after the other. So a store goes late if its memory is needed late.

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

    Times are those of the machine of reference: whenever the disk is free, of the stores whose values are made the one begins whose memory is needed first
    ("earliest deadline first", Liu and Layland 1973). A store stays where it is if something behind it in its entry writes its memory, and all do if two
    go to the same place. The pass is for targets whose device lets copies outlast entries, that is for CPUs.
  }];
}

def OrderStreamsPass : Pass<"order-streams", "::mlir::ModuleOp"> {
  let summary = "says of each instruction what it comes after on other streams";
  let description = [{
    Streams run at the same time, each in the order of its instructions. This pass says what each instruction comes after on other
    streams.

    Before:
    ```mlir
    plan.entry @update flops 0 {
      plan.zero <@g + 0> bytes 64 "g"
      plan.collective all_reduce in all [#plan.range<<@g + 0> to <@g + 0> elements 16 of f32>] "g"
      plan.zero <@x + 0> bytes 64 "x"
      plan.copy <@g + 0> to <@x + 0> bytes 64 "y"
    }
    ```
    After:
    ```mlir
    plan.entry @update flops 0 {
      plan.zero <@g + 0> bytes 64 "g"
      plan.collective all_reduce in all [#plan.range<<@g + 0> to <@g + 0> elements 16 of f32>] "g" after [0]
      plan.zero <@x + 0> bytes 64 "x"
      plan.copy <@g + 0> to <@x + 0> bytes 64 "y" after [1]
    }
    ```

    If two instructions on different streams touch the same bytes and one of them writes, they keep the order in which they stand: the
    later one comes after the earlier one. So a collective begins as soon as its operands are there and nobody reads what it overwrites.
    What reads its results waits for it, and so does what uses their memory anew.

    What other instructions imply is not said again. Of each stream the last one is enough, and none is named that is done when another
    one is.
  }];
}

#endif
