// Passes at the end of the phase `step`, after which only primitive ops on static tensors are left.

#ifndef TRAINC_STEP_PASSES
#define TRAINC_STEP_PASSES

include "mlir/Pass/PassBase.td"

def DecomposePass : Pass<"decompose"> {
  let summary = "replaces composite ops by primitive ones";
  let description = [{
    Replaces every op with DecomposableOpInterface by its primitive ops, repeatedly until none is left.

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
  let summary = "computes the loss over a large vocabulary, and its matrix products, on slices of rows";
  let description = [{
    The logits of a loss and their cotangent are often the largest tensors of a step. This pass splits them into slices of rows, so that
    only one slice exists at any time. Nothing is recomputed.

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

    The pass applies to logits of at least `min-bytes` bytes. The product that computes the logits, the loss, its gradient, and the products
    that use the gradient become one nn.chunks loop over slices of at least `min-rows` rows. Gradients of weights are carried from slice to
    slice, starting from zeros. IndexingOpInterface decides which dimensions can be split; if an op needs all rows at once, nothing is
    changed. The pass runs before composite ops are decomposed.
  }];
  let options = [
    Option<"minBytes", "min-bytes", "int64_t", "16777216", "Minimum bytes of logits that are split">,
    Option<"minRows", "min-rows", "int64_t", "256", "Minimum rows of a slice">];
  let dependentDialects = ["::trainc::nn::NNDialect"];
}

def AccumulateInPlace : Pass<"accumulate-in-place"> {
  let summary = "fuses additions into the products (and other ops) that compute an addend";
  let description = [{
    Removes an nn.add of a value in memory and the result of an op with AccumulatingOpInterface. The op, or the first op of a chain of
    accumulating ops, starts from the value instead.

    Before:
    ```mlir
    %g = train.get @grad.w : tensor<768x768xf32>
    %p = nn.matmul %x transposed, %dy : tensor<1024x768xf32>, tensor<1024x768xf32>
    %s = nn.add %g, %p : tensor<768x768xf32>, tensor<768x768xf32>
    ```
    After:
    ```mlir
    %g = train.get @grad.w : tensor<768x768xf32>
    %p = nn.matmul %x transposed, %dy accumulate %g : tensor<768x768xf32> : tensor<1024x768xf32>, tensor<1024x768xf32>
    ```

    Loops that carry a sum also start from the value. Gradients are thus accumulated into their state in place. Passes before this one write
    sums as nn.add and leave the decision to it.
  }];
}

def EraseBlockUses : Pass<"erase-block-uses"> {
  let summary = "erases the markers of block boundaries";
  let description = [{
    Erases every train.block_use, and values that only these ops read. The pass begins the phase `spmd`, in which blocks are no longer units.
  }];
}

def VerifyStepPass : Pass<"verify-step"> {
  let summary = "verifies that only primitive ops on static tensors are left";
  let description = [{
    The postcondition of the phase `step`: no models, layers, composite ops, train.minimize or train.gradient are left, and every value is a
    static tensor.
  }];
}

#endif
