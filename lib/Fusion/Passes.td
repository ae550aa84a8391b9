// Passes from the phase `step` to the phase `scheduled`.

#ifndef TRAINC_FUSION_PASSES
#define TRAINC_FUSION_PASSES

include "mlir/Pass/PassBase.td"

def FusePass : Pass<"fuse"> {
  let summary = "groups primitive ops into kernels";
  let description = [{
    Groups the primitives of every train.entry, nn.chunks body and function into nn.kernel ops, each of one
    iteration space, so that values between them stay in registers or cache. Producers are merged into consumers, then
    groups that read the same large values with each other. Constants, iotas, random numbers, broadcasts and reshapes
    never cross a border: each kernel makes its own. What products and attention need beside that becomes kernels of its own.
    The ops end in an order that respects values and states, close to the original one.

    Before:
    ```mlir
    %a = nn.add %x, %y : tensor<8x16xf32>, tensor<8x16xf32>
    %b = nn.exp %a : tensor<8x16xf32>
    ```
    After:
    ```mlir
    %b = nn.kernel 1 x 128 (%p = %x : tensor<8x16xf32>, %q = %y : tensor<8x16xf32>) -> (tensor<8x16xf32>) {
      %a = nn.add %p, %q : tensor<8x16xf32>, tensor<8x16xf32>
      %e = nn.exp %a : tensor<8x16xf32>
      nn.yield %e : tensor<8x16xf32>
    }
    ```
  }];
  let options = [
    Option<"maxBuffers", "max-buffers", "int64_t", "24", "Tensors a kernel may read and write">,
    Option<"maxOps", "max-ops", "int64_t", "200", "Primitive ops a kernel may hold">,
    Option<"printTraffic", "print-traffic", "bool", "false",
           "Remark on each function or entry: kernels, and bytes moved before and after">];
  let dependentDialects = ["::trainc::nn::NNDialect"];
}

def VerifyScheduledPass : Pass<"verify-scheduled"> {
  let summary = "checks that only executable ops are left, and proves that collectives may run beside them";
  let description = [{
    The post-condition of the phase `scheduled`: a train.entry holds states' reads and writes, inputs and ops that implement
    ExecutableOpInterface; a zero fill is the only constant.

    What a collective reads is not written until its wait; waits come in the order of starts; starts of a message are together, of one
    kind and group; and all stand in the entry itself, where all ranks come to them in one order. That a wait stands before what reads its
    value, and each start has one, the ops themselves say. `plan-memory` proves it anew, and `trainrun` of the plan's bytes.

    ```mlir
    %w = train.get @w : tensor<4xf32>
    %p = dist.all_gather_start %w : tensor<4xf32> -> tensor<8xf32>
    train.set @w, %new : tensor<4xf32>  // error: overwrites what a collective reads until its wait
    %g = dist.wait %p : tensor<8xf32>
    ```
  }];
}

#endif
