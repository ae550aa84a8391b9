#ifndef TRAINC_REMAT_PASSES
#define TRAINC_REMAT_PASSES

include "mlir/Pass/PassBase.td"

def Recompute : Pass<"recompute", "::mlir::ModuleOp"> {
  let summary = "computes again in the backward what is cheap, instead of keeping it from the forward";
  let description = [{
    Selective activation checkpointing: results of matrix products and attention are kept, those of elementwise ops and of ops that move
    elements (RecomputableOpInterface) may be computed again. The forward is what the loss is computed from; all else comes behind it and is
    called the backward here. In the order of the forward, each value that the backward reads is computed again right before its first
    use there, if

    * through at most 16 such ops it is made from values that the backward reads anyway and that are kept, from states, inputs and numbers,
      and from values of at most an eighth of its size, such as the mean of each row, which are then kept as well;
    * they take at most four times as many bytes as the value itself.

    So no value takes the place of a larger one, and memory between forward and backward can only fall. What is kept is read behind an
    `nn.barrier`, so that nothing merges what is computed again with the forward's op, nor computes it earlier.
    Each value is computed again on its own, even where two have ops in common: both are short-lived then. Equal ops on equal operands give
    equal bits; random numbers depend on their place alone.

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
  }];
  let dependentDialects = ["::trainc::nn::NNDialect"];
}

#endif
