#ifndef TRAINC_AUTODIFF_PASSES
#define TRAINC_AUTODIFF_PASSES

include "mlir/Pass/PassBase.td"

def Autodiff : Pass<"autodiff", "::mlir::ModuleOp"> {
  let summary = "replaces train.minimize by the backward computation";
  let description = [{
    Every entry that ends in `train.minimize` gets the ops that compute the gradient of the loss, and one `train.gradient` for each
    trained parameter that it reads.

    ```mlir
    %w = train.get @w : tensor<f32>
    %y = nn.square %w : tensor<f32>
    train.minimize %y : tensor<f32>
    ```
    becomes
    ```mlir
    %w = train.get @w : tensor<f32>
    %y = nn.square %w : tensor<f32>
    %one = nn.constant 1.0 : tensor<f32>
    %two = nn.constant 2.0 : tensor<f32>
    %slope = nn.mul %w, %two : tensor<f32>, tensor<f32>
    %g = nn.mul %one, %slope : tensor<f32>, tensor<f32>
    train.gradient @w, %g : tensor<f32>
    ```

    The new ops are in reverse order of the forward ops. Only ops on paths from trained parameters to the loss are differentiated; frozen
    parameters and integers are constants. Contributions of several uses of a value are summed in reverse order of the uses. An op on such a
    path without a gradient is an error. A trained parameter without a path to the loss is a warning. If the
    loss depends on no trained parameter, there is no backward: a warning and the program's `no_training` say so.
  }];
  let dependentDialects = ["::trainc::nn::NNDialect", "::trainc::train::TrainDialect"];
}

#endif
