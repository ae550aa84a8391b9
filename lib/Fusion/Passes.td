// Passes from the phase `step` to the phase `scheduled`.

#ifndef TRAINC_FUSION_PASSES
#define TRAINC_FUSION_PASSES

include "mlir/Pass/PassBase.td"

def FusePass : Pass<"fuse"> {
  let summary = "fuses primitive ops into kernels";
  let description = [{
    Fuses the primitive ops of every train.entry, nn.chunks body and function into nn.kernel ops. A kernel has one iteration space, so that
    its values stay in registers or cache.

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

    Rates of the target's machine (`--gpu`) decide two questions. A value computed from constants, positions and random numbers is
    recomputed in each kernel if it has so few ops that this is faster than memory; otherwise it is kept. Ops with other ops in between
    become one kernel if the bytes that then live longer are fewer than those that move in the time of one launch, plus a quarter of the
    bytes that pass between the ops.

    Producers are merged into consumers first, then groups that read the same values. Constants, iotas, random numbers, broadcasts, reshapes
    and conversions of bf16 or f16 to f32 are never passed between kernels: each kernel recomputes its own, and so reads the low-precision
    numbers. If products or attention need such a value, a separate kernel computes it. The final order respects values and states, and is
    close to the original one.
  }];
  let options = [
    Option<"maxBuffers", "max-buffers", "int64_t", "24", "Maximum tensors that a kernel reads and writes">,
    Option<"maxOps", "max-ops", "int64_t", "200", "Maximum primitive ops of a kernel">,
    Option<"printTraffic", "print-traffic", "bool", "false",
           "Remark on each function or entry: kernels, and bytes moved before and after">];
  let dependentDialects = ["::trainc::nn::NNDialect"];
}

def FuseEpilogues : Pass<"fuse-epilogues"> {
  let summary = "merges biases, activations and their gradients into products";
  let description = [{
    A library can add a bias and apply an activation before it writes a matrix product. The ops become one op, `nn.product`.

    Before:
    ```mlir
    %p = nn.matmul %x, %w : tensor<8x16xf32>, tensor<16x32xf32>
    %b = nn.broadcast %bias to [8, 32] : tensor<32xf32>
    %h = nn.add %p, %b : tensor<8x32xf32>, tensor<8x32xf32>
    %g = nn.gelu %h approximate tanh : tensor<8x32xf32>
    %s = nn.square %h : tensor<8x32xf32>
    ```
    After:
    ```mlir
    %g, %h = nn.product %x, %w bias %bias : tensor<32xf32> activation gelu_tanh before : tensor<8x16xf32>, tensor<16x32xf32>
    %s = nn.square %h : tensor<8x32xf32>
    ```

    A bias is a vector that is added to all rows. It is fused if the product has no other user. An activation is fused even if its input has
    other users; the input is then a second result. bf16 products compute the activation in f32, so that the conversions around it vanish.

    Before, in the backward:
    ```mlir
    %p = nn.matmul %dg, %w transposed : tensor<8x16xf32>, tensor<32x16xf32>
    %dh = nn.gelu_grad %p at %h approximate tanh : tensor<8x32xf32>, tensor<8x32xf32>
    %db = nn.reduce sum %dh over [0] : tensor<8x32xf32>
    ```
    After:
    ```mlir
    %dh, %db = nn.product %dg, %w transposed activation gelu_tanh_gradient at %h : tensor<8x32xf32> sum result : tensor<8x16xf32>, tensor<32x16xf32>
    ```

    The gradient of a bias is a sum of columns: of the result of such a product, or of a factor of the product that computes the weight's
    gradient (`sum a`, `sum b`). The product computes the sum if that takes no longer than a separate pass over the tensor. If a kernel
    produces or reads the tensor anyway, the kernel computes the sum. The sum has the product's type, so that no gradient is rounded.

    The choice follows the predicted times on the target's machine (`--gpu`): a saved pass over memory, against the arithmetic of an
    activation and the lower rate of a product that sums columns. So it may differ between machines. An activation that only kernels read is
    computed in these kernels.

    EpilogueOpInterface tells which steps a product can apply, and LibraryCalls which steps the target's library supports. A product that
    sums over a batch is not changed, because no library call supports it. The pass runs before `fuse`, for targets that execute products by
    libraries, unless `library_calls plain` is set.
  }];
  let options = [
    Option<"printChoices", "print-choices", "bool", "false",
           "Remark for each product: seconds of its steps in the product and in kernels">];
  let dependentDialects = ["::trainc::nn::NNDialect", "::trainc::plan::PlanDialect"];
}

def VerifyScheduledPass : Pass<"verify-scheduled"> {
  let summary = "verifies that only executable ops are left, and proves that collectives can overlap with them";
  let description = [{
    The postcondition of the phase `scheduled`. A train.entry consists of reads and writes of states, inputs, and ops that implement
    ExecutableOpInterface. Zero is the only constant.

    ```mlir
    %w = train.get @w : tensor<4xf32>
    %p = dist.all_gather_start %w in shard : tensor<4xf32> -> tensor<8xf32>
    train.set @w, %new : tensor<4xf32>  // error: overwrites what a collective reads until its wait
    %g = dist.wait %p : tensor<8xf32>
    ```

    The pass proves of collectives:

    * Nothing is written that a collective reads before its wait.
    * Waits are in the order of starts.
    * Starts of a message are adjacent, and of one kind and group.
    * All collectives are in the entry's own block, so that all ranks run them in one order.

    The verifiers of the ops check that each start has a wait, and SSA orders the wait before readers of its value. `plan-memory` repeats
    the proof, and `trainrun` proves it for the plan file.
  }];
}

#endif
