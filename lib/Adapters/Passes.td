#ifndef TRAINC_ADAPTERS_PASSES
#define TRAINC_ADAPTERS_PASSES

include "mlir/Pass/PassBase.td"

def AddAdapters : Pass<"add-adapters", "::mlir::ModuleOp"> {
  let summary = "adds low-rank adapters to linear layers and freezes the other parameters";
  let description = [{
    A linear layer is a matrix product by a parameter of two dimensions, named `LAYER.weight`, that only such products read. Each layer that `lora` selects gets
    the parameters `lora_A`, which starts with uniform random numbers, and `lora_B`, which starts with zeros.

    Before, with `lora "fc"  lora_rank 2  lora_alpha 4`:
    ```mlir
    train.state parameter @fc.weight : tensor<3x5xf32>
    train.entry @micro_step {
      %x = train.input "x" micro : tensor<4x5xf32>
      %w = train.get @fc.weight : tensor<3x5xf32>
      %y = nn.matmul %x, %w transposed : tensor<4x5xf32>, tensor<3x5xf32>
      ...
    }
    ```
    After:
    ```mlir
    train.state parameter frozen @fc.weight : tensor<3x5xf32>
    train.state parameter @fc.lora_A.weight : tensor<2x5xf32>
    train.state parameter @fc.lora_B.weight : tensor<3x2xf32>
    train.entry @micro_step {
      %x = train.input "x" micro : tensor<4x5xf32>
      %w = train.get @fc.weight : tensor<3x5xf32>
      %y = nn.matmul %x, %w transposed : tensor<4x5xf32>, tensor<3x5xf32>
      %a = train.get @fc.lora_A.weight : tensor<2x5xf32>
      %b = train.get @fc.lora_B.weight : tensor<3x2xf32>
      %low = nn.matmul %x, %a transposed : tensor<4x5xf32>, tensor<2x5xf32>
      %scale = nn.constant 2 : tensor<4x2xf32>
      %scaled = nn.mul %low, %scale : tensor<4x2xf32>, tensor<4x2xf32>
      %delta = nn.matmul %scaled, %b transposed : tensor<4x2xf32>, tensor<3x2xf32>
      %sum = nn.add %y, %delta : tensor<4x3xf32>, tensor<4x3xf32>
      ...
    }
    ```

    With `lora_dropout`, the entry `micro_step` drops elements of `%x` before the product by `%a`. All other parameters are frozen, except
    those of the layers that `lora_modules_to_save` names and those that a group declares `trained`. A group may freeze adapters. The
    program gets the export `adapter_config.json`, which describes the adapters as PEFT does. Without `lora` the pass changes nothing.
  }];
  let dependentDialects = ["::trainc::nn::NNDialect", "::trainc::train::TrainDialect"];
}

#endif
