#ifndef TRAINC_INSTANTIATE_PASSES
#define TRAINC_INSTANTIATE_PASSES

include "mlir/Pass/PassBase.td"

def InstantiatePass : Pass<"instantiate", "::mlir::ModuleOp"> {
  let summary = "converts the model and its train.program to entries on static tensors";
  let description = [{
    Binds batch and sequence length, expands blocks and layers, and infers all types. Operands of elementwise ops are broadcast to one
    shape. Each parameter and scalar gets a `train.state`.

    Before:
    ```mlir
    nn.model @line(%x: tensor<?x2xf32>, %y: tensor<?x1xf32>) {
      %p = nn.linear "fc" %x to 1 no_bias
      %d = nn.sub %p, %y
      %e = nn.square %d
      nn.loss "loss" %e
    }
    train.program @fit { model @line  optimizer sgd(lr 0.1)  batch 4 }
    ```
    After (one of the entries):
    ```mlir
    train.entry @micro_step {
      %x = train.input "x" micro : tensor<4x2xf32>
      %y = train.input "y" micro : tensor<4x1xf32>
      %w = train.get @fc.weight : tensor<1x2xf32>
      %p = nn.matmul %x, %w transposed : tensor<4x2xf32>, tensor<1x2xf32>
      %d = nn.sub %p, %y : tensor<4x1xf32>, tensor<4x1xf32>
      %e = nn.square %d : tensor<4x1xf32>
      %sum = nn.reduce sum %e over [0, 1] : tensor<4x1xf32>
      ...
      train.minimize %loss : tensor<f32>
    }
    ```

    The entries are `init`, `begin_step`, `micro_step` and `eval`. A model with a column `tokens` and an output "logits" gets `prefill`
    and `decode` too. `train.program` is kept, with the sizes in force and the model's exports; models and blocks are erased.
  }];
  let dependentDialects = ["::trainc::nn::NNDialect", "::trainc::train::TrainDialect"];
}

#endif
