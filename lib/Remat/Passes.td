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

def RecomputeBlocks : Pass<"recompute-blocks", "::mlir::ModuleOp"> {
  let summary = "computes uses of blocks again in the backward, instead of keeping their values from the forward";
  let description = [{
    Activation checkpointing by blocks. Of a use of a block what enters it is kept. The backward computes the block's forward once more,
    right before it reads it: products, attention and dropout included.

    ```mlir
    %h = nn.matmul %x, %w : tensor<8x4xf32>, tensor<4x16xf32>
    %g = nn.gelu %h : tensor<8x16xf32>
    %y = nn.matmul %g, %v : tensor<8x16xf32>, tensor<16x4xf32>
    train.border <"mlp", "mlp"> from %x to %y : tensor<8x4xf32> to tensor<8x4xf32>
    ...                                                             // the loss, and the backward of what follows
    %dv = nn.matmul %g transposed, %dy : tensor<8x16xf32>, tensor<8x4xf32>
    %slope = nn.exp %h : tensor<8x16xf32>
    ```
    becomes
    ```mlir
    %h = nn.matmul %x, %w : tensor<8x4xf32>, tensor<4x16xf32>
    %g = nn.gelu %h : tensor<8x16xf32>
    %y = nn.matmul %g, %v : tensor<8x16xf32>, tensor<16x4xf32>
    train.border <"mlp", "mlp"> from %x to %y : tensor<8x4xf32> to tensor<8x4xf32>
    ...
    %kept = nn.barrier %x : tensor<8x4xf32>
    %h.again = nn.matmul %kept, %w : tensor<8x4xf32>, tensor<4x16xf32>
    %g.again = nn.gelu %h.again : tensor<8x16xf32>
    %dv = nn.matmul %g.again transposed, %dy : tensor<8x16xf32>, tensor<8x4xf32>
    %slope = nn.exp %h.again : tensor<8x16xf32>
    ```

    The ops of a use are those of the forward that lead from what enters to what leaves (train.border), and the roundings of their values.
    Each is computed again at most once, before the first op of the backward that needs it. What the backward does not need is not
    computed again, such as `%y`. What other ops of the forward read leaves the use, and is kept if the backward reads it.

    `blocks` says which blocks' uses are meant; without it those are the outermost uses of all blocks. Of these, in the order of the
    forward, the first of each `every` is computed again. `keep` is a list of percentages, one for each of them, the last for all behind.
    Of 0 percent nothing inside stays, of 100 all. In between, values inside stay that take at most that share of the bytes which
    the backward reads of the use: one after the other, the value that saves the most seconds of recomputation per byte, as the target's
    machine would take them. So products and attention stay before what is cheap.

    Random numbers depend on their place alone, and equal ops on equal operands give equal bits. So bits do not change.
  }];
  let options = [ListOption<"blocks", "blocks", "std::string", "Names of blocks">,
                 Option<"every", "every", "int64_t", "1", "Of so many uses the first is computed again">,
                 ListOption<"keep", "keep", "int64_t", "Percent of its bytes that each use keeps">];
  let dependentDialects = ["::trainc::nn::NNDialect", "::trainc::plan::PlanDialect"];
}

def WarnIdleCheckpoints : Pass<"warn-idle-checkpoints", "::mlir::ModuleOp"> {
  let summary = "warns of numbers in `checkpoint_keep`, and of blocks in `checkpoint_blocks`, that are of no use of a block";
  let description = [{
    Runs before `recompute-blocks`. It warns of each of `checkpoint_blocks` that the model has no use of. The last number of `checkpoint_keep` is
    that of all uses that follow. The pass warns if the numbers before it are more than the uses that are computed again:

    ```mlir
    train.program @p { ...  activation_checkpointing full  checkpoint_keep "100,50,0" }
                                 // warning: checkpoint_keep (--checkpoint-keep) has numbers for 2 uses of blocks, and one for all that follow, ...
    train.entry @micro_step {
      ...
      train.border <"h.0", "layer"> from %x to %y : tensor<8x16xf32> to tensor<8x16xf32>
    }
    ```

    The module stays as it is. What a budget or a memory limit decides is not warned of.
  }];
}

#endif
