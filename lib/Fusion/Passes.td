// Passes from the phase `step` to the phase `scheduled`.

#ifndef TRAINC_FUSION_PASSES
#define TRAINC_FUSION_PASSES

include "mlir/Pass/PassBase.td"

def FusePass : Pass<"fuse"> {
  let summary = "groups primitive ops into kernels";
  let description = [{
    Groups the primitives of every train.entry, nn.chunks body and function into nn.kernel ops. A kernel has one iteration space, so
    values inside it stay in registers or cache.

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

    Two rates of the target's machine (`--gpu`) decide what is open. A value that is made of constants, positions and random numbers is
    made again where arithmetic is faster than memory, and kept if its tree has more ops. Ops with others between them become one kernel
    if what is then held longer is less than moves in a launch, or than a quarter of what passes between them.

    Producers are merged into consumers first, then groups that read the same values with each other. Constants, iotas, random
    numbers, broadcasts, reshapes and conversions of bf16 or f16 to f32 never cross a border: each kernel makes its own, so that it reads
    the short numbers. If products and attention need such a value, a kernel of its own makes it. The ops end in an order that respects
    values and states, close to the original one.
  }];
  let options = [
    Option<"maxBuffers", "max-buffers", "int64_t", "24", "Tensors a kernel may read and write">,
    Option<"maxOps", "max-ops", "int64_t", "200", "Primitive ops a kernel may hold">,
    Option<"printTraffic", "print-traffic", "bool", "false",
           "Remark on each function or entry: kernels, and bytes moved before and after">];
  let dependentDialects = ["::trainc::nn::NNDialect"];
}

def FuseEpilogues : Pass<"fuse-epilogues"> {
  let summary = "makes biases, activations and their gradients part of products";
  let description = [{
    A library can add a bias and apply an activation before it writes a matrix product. So they become one op, `nn.product`.

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

    A bias is one vector that is added to all rows. It is fused if nobody else uses the product. An activation is fused whoever uses what it
    is applied to: that is then a second result. Products of bf16 compute the activation in f32, between two conversions, which vanish.

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

    The gradient of a bias is a sum of columns: of the result of such a product, or of a factor of the product that is the weight's gradient
    (`sum a`, `sum b`). The product gives the sum if that takes no longer than a pass over the tensor. A kernel that makes or reads the
    tensor anyway needs no pass of its own. The sum is of the product's type, so that no gradient is rounded. What is added to it stays a kernel's.

    What costs the least is what the cost model says of the target's machine (`--gpu`): a pass that kernels save, against the arithmetic
    of an activation and what the product loses of its rate by adding up columns. So another machine may choose otherwise. An activation
    that kernels alone read is theirs.

    Ops say themselves what a product can do for them (EpilogueOpInterface), and targets what their library has (LibraryCalls). A product
    that sums over a batch stays as it is, as no library call does that. The pass comes before `fuse`, for targets that leave products to
    libraries, unless `library_calls plain` says that products are to be plain.
  }];
  let options = [
    Option<"printChoices", "print-choices", "bool", "false",
           "Remark on each product what its steps take in it, and in kernels">];
  let dependentDialects = ["::trainc::nn::NNDialect", "::trainc::plan::PlanDialect"];
}

def VerifyScheduledPass : Pass<"verify-scheduled"> {
  let summary = "checks that only executable ops are left, and proves that collectives may run beside them";
  let description = [{
    The post-condition of the phase `scheduled`. A train.entry holds reads and writes of states, inputs, and ops that implement
    ExecutableOpInterface. A zero fill is the only constant.

    ```mlir
    %w = train.get @w : tensor<4xf32>
    %p = dist.all_gather_start %w : tensor<4xf32> -> tensor<8xf32>
    train.set @w, %new : tensor<4xf32>  // error: overwrites what a collective reads until its wait
    %g = dist.wait %p : tensor<8xf32>
    ```

    Of collectives the pass proves:

    * Nothing writes what a collective reads until its wait.
    * Waits come in the order of starts.
    * Starts of a message are together, of one kind and group.
    * All stand in the entry itself, where all ranks come to them in one order.

    The ops themselves check that each start has a wait, and that it stands before what reads its value. `plan-memory` proves all of it
    anew, and `trainrun` proves it of the plan's bytes.
  }];
}

#endif
