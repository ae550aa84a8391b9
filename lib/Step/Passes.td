// Passes that end the phase `step`: primitive ops on tensors of known sizes.

#ifndef TRAINC_STEP_PASSES
#define TRAINC_STEP_PASSES

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
    A loss's scores and their cotangent are often the largest tensors of a step. This pass cuts them into slices of rows: no more than a
    slice of the scores exists at any time, and nothing is computed twice.

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

    It acts on scores of `min-bytes` or more. The ops that make and use them are the product that makes the scores, the loss, its
    gradient, and the products that use that. They become one nn.chunks loop over slices of at least `min-rows` rows. Gradients of
    weights are carried from slice to slice, from zeros on. What may be cut follows from IndexingOpInterface; if an op needs all rows at
    once, nothing is changed. The pass comes before composite ops are decomposed.
  }];
  let options = [
    Option<"minBytes", "min-bytes", "int64_t", "16777216", "Size of scores from which on they are cut">,
    Option<"minRows", "min-rows", "int64_t", "256", "Rows of a slice">];
  let dependentDialects = ["::trainc::nn::NNDialect"];
}

def AccumulateInPlace : Pass<"accumulate-in-place"> {
  let summary = "adds products and the like to what is there already, in place of a pass of its own";
  let description = [{
    Removes an nn.add of a value that lies in memory and the result of an op with AccumulatingOpInterface. The op, or the first of a
    chain of such, starts from the value instead.

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

    Loops that carry a sum start from it too. Gradients are then added to a state where it lies. This is the one place that decides so:
    passes before it write sums as nn.add.
  }];
}

def EraseBorders : Pass<"erase-borders"> {
  let summary = "erases the marks of blocks' borders";
  let description = [{
    Erases every train.border, and what only borders read. Begins the phase `spmd`, in which blocks are units no more.
  }];
}

def VerifyStepPass : Pass<"verify-step"> {
  let summary = "checks that only primitive ops on tensors of known sizes are left";
  let description = [{
    The post-condition of the phase `step`: models, layers, composite ops, train.minimize and train.gradient are gone, and the
    sizes of every value are known.
  }];
}

#endif
