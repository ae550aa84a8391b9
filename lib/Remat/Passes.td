#ifndef TRAINC_REMAT_PASSES
#define TRAINC_REMAT_PASSES

include "mlir/Pass/PassBase.td"

def Recompute : Pass<"recompute", "::mlir::ModuleOp"> {
  let summary = "recomputes cheap values in the backward, instead of keeping them from the forward";
  let description = [{
    Selective activation checkpointing. The results of matrix products and attention are kept. Results of elementwise ops, and of ops that
    move elements (RecomputableOpInterface), may be recomputed.

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

    The forward consists of the ops that the loss depends on. All other ops follow and are called the backward here. The pass visits the
    values that the backward reads, in the order of the forward. It recomputes a value right before its first use in the backward if:

    * At most 16 recomputable ops lead to it, from kept values that the backward reads anyway, or from states, inputs and constants. They
      may also start from values of at most an eighth of its size, such as the mean of each row; these are then kept as well.
    * The kept values that these ops read have at most four times as many bytes as the value itself.

    So kept memory between forward and backward can only shrink. Kept values are read through an `nn.barrier`, so that no pass merges a
    recomputed op with the forward's op, or moves it earlier. Each value is recomputed separately, even if two share ops, so that both are
    short-lived. Equal ops on equal operands give equal bits; random numbers depend on their position only.

    In low precision, only the rounded values are kept, which have half the bytes. A value that the pass `round-saved` has rounded for the
    backward counts as a forward value. Recomputation starts from rounded values, widens them, and rounds its result as the forward does:

    ```mlir
    %kept = nn.barrier %h : tensor<8x16xbf16>
    %wide = nn.convert %kept to f32 : tensor<8x16xbf16>
    %gelu = nn.gelu %wide : tensor<8x16xf32>
    %again = nn.convert %gelu to bf16 : tensor<8x16xf32>
    ```
  }];
  let dependentDialects = ["::trainc::nn::NNDialect"];
}

def RecomputeBlocks : Pass<"recompute-blocks", "::mlir::ModuleOp"> {
  let summary = "recomputes uses of blocks in the backward, instead of keeping their values from the forward";
  let description = [{
    Activation checkpointing by blocks. The inputs of a use of a block are kept. The backward recomputes the block's forward right before it
    reads its values, including products, attention and dropout.

    ```mlir
    %h = nn.matmul %x, %w : tensor<8x4xf32>, tensor<4x16xf32>
    %g = nn.gelu %h : tensor<8x16xf32>
    %y = nn.matmul %g, %v : tensor<8x16xf32>, tensor<16x4xf32>
    train.block_use <"mlp", "mlp"> from %x to %y : tensor<8x4xf32> to tensor<8x4xf32>
    ...                                                             // the loss, and the backward of what follows
    %dv = nn.matmul %g transposed, %dy : tensor<8x16xf32>, tensor<8x4xf32>
    %slope = nn.exp %h : tensor<8x16xf32>
    ```
    becomes
    ```mlir
    %h = nn.matmul %x, %w : tensor<8x4xf32>, tensor<4x16xf32>
    %g = nn.gelu %h : tensor<8x16xf32>
    %y = nn.matmul %g, %v : tensor<8x16xf32>, tensor<16x4xf32>
    train.block_use <"mlp", "mlp"> from %x to %y : tensor<8x4xf32> to tensor<8x4xf32>
    ...
    %kept = nn.barrier %x : tensor<8x4xf32>
    %h.again = nn.matmul %kept, %w : tensor<8x4xf32>, tensor<4x16xf32>
    %g.again = nn.gelu %h.again : tensor<8x16xf32>
    %dv = nn.matmul %g.again transposed, %dy : tensor<8x16xf32>, tensor<8x4xf32>
    %slope = nn.exp %h.again : tensor<8x16xf32>
    ```

    The ops of a use are the forward ops on paths from its inputs to its outputs (train.block_use), and the roundings of their values. Each is
    recomputed at most once, before the first backward op that needs it. Values that the backward does not need, such as `%y`, are not
    recomputed. Values that forward ops outside the use read are outputs of the use, and are kept if the backward reads them.

    `blocks` names the blocks whose uses are recomputed; by default these are the outermost uses of all blocks. `keep` is a list of
    percentages, one for each of these uses in the order of the forward; the last applies to all further uses. With 0 nothing inside is kept, with 100 everything. In between, values are kept up to that share of the bytes which the
    backward reads of the use, starting with the value that saves the most predicted seconds of recomputation per byte. Thus products and
    attention are kept before cheap values.

    Random numbers depend on their position only, and equal ops on equal operands give equal bits. So recomputation does not change bits.
  }];
  let options = [ListOption<"blocks", "blocks", "std::string", "Names of blocks">,
                 ListOption<"keep", "keep", "int64_t", "Percentage of its bytes that each use keeps">];
  let dependentDialects = ["::trainc::nn::NNDialect", "::trainc::plan::PlanDialect"];
}

def WarnIdleCheckpoints : Pass<"warn-idle-checkpoints", "::mlir::ModuleOp"> {
  let summary = "warns about numbers in `checkpoint_keep` and blocks in `checkpoint_blocks` without a use";
  let description = [{
    Runs before `recompute-blocks`. Warns about each of `checkpoint_blocks` that the model does not use. The last number of
    `checkpoint_keep` applies to all further uses. The pass warns if there are more numbers before it than recomputed uses:

    ```mlir
    train.program @p { ...  activation_checkpointing full  checkpoint_keep "100,50,0" }
                                 // warning: checkpoint_keep (--checkpoint-keep) has numbers for 2 uses of blocks, and one for all that follow, ...
    train.entry @micro_step {
      ...
      train.block_use <"h.0", "layer"> from %x to %y : tensor<8x16xf32> to tensor<8x16xf32>
    }
    ```

    The module is not changed. Settings that a budget or a memory limit chose are not warned about.
  }];
}

#endif
