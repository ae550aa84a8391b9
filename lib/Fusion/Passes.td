// Passes from the phase `step` to the phase `scheduled`.

#ifndef TRAINC_FUSION_PASSES
#define TRAINC_FUSION_PASSES

include "mlir/Pass/PassBase.td"

def DecomposePass : Pass<"decompose"> {
  let summary = "replaces composite ops by primitive ones";
  let description = [{
    Asks every op with DecomposableOpInterface for its primitives, and those again until none is left.

    Before:
    ```mlir
    %y = nn.softmax %x : tensor<8x16xf32>
    ```
    After:
    ```mlir
    %m = nn.reduce max %x over [1] keep : tensor<8x16xf32>
    %b = nn.broadcast %m to [8, 16] : tensor<8x1xf32>
    %d = nn.sub %x, %b : tensor<8x16xf32>, tensor<8x16xf32>
    %e = nn.exp %d : tensor<8x16xf32>
    ...
    ```
  }];
}

def ChunkLossPass : Pass<"chunk-loss"> {
  let summary = "runs the loss over a large vocabulary, and the products around it, on slices of rows";
  let description = [{
    A loss's scores and their cotangent are often the largest tensors of a step. Where they take `min-bytes` or more, the ops
    that make and use them (the product that makes the scores, the loss, its gradient, the products that use that) become one
    nn.chunks loop over slices of at least `min-rows` rows: no more than a slice of the scores exists at any time, and nothing is
    computed twice. Gradients of weights are carried from slice to slice. What may be cut follows from IndexingOpInterface; where an op
    needs all rows at once, nothing is changed. Comes before composite ops are decomposed.

    Before:
    ```mlir
    %scores = nn.matmul %x, %w transposed : tensor<1024x768xf32>, tensor<50257x768xf32>
    %nll, %lse = nn.cross_entropy %scores, %labels : tensor<1024x50257xf32>, tensor<1024xi32>
    ```
    After:
    ```mlir
    %nll = nn.chunks 4 (%a = %x : tensor<1024x768xf32> split 0, %b = %w : tensor<50257x768xf32>,
                        %c = %labels : tensor<1024xi32> split 0) -> (tensor<1024xf32> split 0) {
      %scores = nn.matmul %a, %b transposed : tensor<256x768xf32>, tensor<50257x768xf32>
      %nll, %lse = nn.cross_entropy %scores, %c : tensor<256x50257xf32>, tensor<256xi32>
      nn.yield %nll : tensor<256xf32>
    }
    ```
  }];
  let options = [
    Option<"minBytes", "min-bytes", "int64_t", "16777216", "Size of scores from which on they are cut">,
    Option<"minRows", "min-rows", "int64_t", "256", "Rows of a slice">];
  let dependentDialects = ["::trainc::nn::NNDialect"];
}

def VerifyStepPass : Pass<"verify-step"> {
  let summary = "checks that only primitive ops on tensors of known sizes are left";
  let description = [{
    The post-condition of the phase `step`: models, layers, composite ops, train.minimize and train.gradient are gone, and the
    sizes of every value are known.
  }];
}

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
    ExecutableOpInterface; a zero fill is the only constant. Every kernel's ops fit its rows and columns.

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
