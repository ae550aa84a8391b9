#ifndef TRAINC_REMAT_PASSES
#define TRAINC_REMAT_PASSES

include "mlir/Pass/PassBase.td"

def Recompute : Pass<"recompute", "::mlir::ModuleOp"> {
  let summary = "computes again in the backward what is cheap, instead of keeping it from the forward";
  let description = [{
    Selective activation checkpointing. The results of matrix products and attention are kept. Those of elementwise ops and of ops that
    move elements (RecomputableOpInterface) may be computed again.

    ```mlir
    %h = nn.matmul %x, %w : tensor<8x4xf32>, tensor<4x16xf32>
    %g = nn.gelu %h : tensor<8x16xf32>
    %y = nn.matmul %g, %v : tensor<8x16xf32>, tensor<16x4xf32>
    ...                                                             // the loss, and the backward of what follows
    %dv = nn.matmul %g transposed, %dy : tensor<8x16xf32>, tensor<8x4xf32>
    ...                                                             // and %h is read for the slope of nn.gelu
    ```
    becomes
    ```mlir
    %h = nn.matmul %x, %w : tensor<8x4xf32>, tensor<4x16xf32>
    %g = nn.gelu %h : tensor<8x16xf32>
    %y = nn.matmul %g, %v : tensor<8x16xf32>, tensor<16x4xf32>
    ...
    %kept = nn.barrier %h : tensor<8x16xf32>
    %again = nn.gelu %kept : tensor<8x16xf32>
    %dv = nn.matmul %again transposed, %dy : tensor<8x16xf32>, tensor<8x4xf32>
    ...
    ```

    The forward is what the loss is computed from. All else comes behind it and is called the backward here. The pass goes through the
    values that the backward reads, in the order of the forward. It computes a value again right before its first use there, on two
    conditions:

    * At most 16 such ops lead to it. They begin at kept values that the backward reads anyway, or at states, inputs and numbers. They
      may also begin at values of at most an eighth of its size, such as the mean of each row. Those are then kept as well.
    * The kept values among these take at most four times as many bytes as the value itself.

    So no value takes the place of a larger one, and memory between forward and backward can only fall. What is kept is read behind an
    `nn.barrier`: nothing merges what is computed again with the forward's op, or computes it earlier. Each value is computed again on
    its own, even if two have ops in common, since both are short-lived then. Equal ops on equal operands give equal bits; random
    numbers depend on their place alone.

    In low precision the forward and the backward read rounded numbers, half the bytes of what they are rounded from. They alone are
    kept: where the pass `round-saved` has rounded a value for the backward, that counts as the forward's. What is computed again begins
    at them, is widened, and is rounded as in the forward:

    ```mlir
    %kept = nn.barrier %h : tensor<8x16xbf16>
    %wide = nn.convert %kept to f32 : tensor<8x16xbf16>
    %gelu = nn.gelu %wide : tensor<8x16xf32>
    %again = nn.convert %gelu to bf16 : tensor<8x16xf32>
    ```
  }];
  let dependentDialects = ["::trainc::nn::NNDialect"];
}

#endif
