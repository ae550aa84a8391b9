#ifndef TRAINC_CODEGEN_PASSES
#define TRAINC_CODEGEN_PASSES

include "mlir/Pass/PassBase.td"

def PadRowsPass : Pass<"pad-rows", "::mlir::ModuleOp"> {
  let summary = "pads the rows of tensors so that all rows are aligned";
  let description = [{
    GPUs access 16 bytes at a time, and multiply matrices fastest, if every row is aligned to 16 bytes. Rows of 50,257 bf16 numbers are not.
    A tensor whose rows have at least 512 bytes and are not multiples of the alignment gets padding after each row, if its producer and
    readers are library products and row kernels with the same rows. `plan.row_padding` lists the elements after a row for each operand of
    an op, then for each result. Types do not change. Memory planning counts the padding. Targets without such an alignment are not changed.

    Before:
    ```mlir
    %1 = nn.product %x, %w transposed : tensor<4096x768xbf16>, tensor<50257x768xbf16>
    ```
    After:
    ```mlir
    %1 = nn.product %x, %w transposed {plan.row_padding = array<i64: 0, 0, 7>} : tensor<4096x768xbf16>, tensor<50257x768xbf16>
    ```
  }];
}

def SummariseKernelsPass : Pass<"summarise-kernels", "::mlir::ModuleOp"> {
  let summary = "annotates each scheduled op with its launches, without generating code";
  let description = [{
    Declares kernels by `plan.kernel`: grid, flops, and accesses to their arguments. An op gets three attributes:

    * `plan.launches`: its kernels in order. Argument numbers count operands, then results, then scratch buffers. If the target executes the
      op by a library of the device (`library_calls` of `train.program`), the attribute is `plan.library_call` instead.
    * `plan.scratch`: the type of each scratch buffer.
    * `plan.may_alias`: the operands that a result may overwrite.

    The start of a collective whose sums a kernel computes gets `plan.rank_sum`, that kernel, and in `plan.scratch` the workspace that
    receives other ranks' values.

    Before:
    ```mlir
    %1 = nn.kernel 1 x 4 (%a = %0 : tensor<4xf32>) -> (tensor<4xf32>) {...}
    ```
    After:
    ```mlir
    plan.kernel @"rows#0" rows grid 1 flops 0 [#plan.param<read, f32, 16>, #plan.param<write, f32, 16>]
    %1 = nn.kernel ... {plan.launches = [#plan.launch_spec<@"rows#0"(0, 1)>], plan.may_alias = [array<i64: 0, 0>]}
    module @kernels attributes {plan.target = "cpu"} {
      func.func @source.0(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {plan.kernels = [@"rows#0"]} {
        %0 = nn.kernel 1 x 4 ...
        return %0 : tensor<4xf32>
      }
    }
    ```

    This suffices for memory planning. Aliases and loops need no kernel. One op of each set of equal ops is copied to a function in the
    nested module @kernels, from which `generate-kernels` makes code. Ops marked `plan.on_host` are launched as on CPUs, and are copied to
    the module @host_kernels. `fp32_products` of `train.program` selects the arithmetic of products.
  }];
  let dependentDialects = [
    "::trainc::dist::DistDialect", "::trainc::plan::PlanDialect", "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def GenerateKernelsPass : Pass<"generate-kernels", "::mlir::ModuleOp"> {
  let summary = "generates the code of the kernels that summarise-kernels declared";
  let description = [{
    Replaces the functions of the module @kernels by code for its target. Kernels are named by their content, so that equal kernels exist
    once. The module @host_kernels, if there is one, is handled in the same way.

    Before:
    ```mlir
    plan.kernel @"rows#0" rows grid 1 flops 0 [#plan.param<read, f32, 16>, #plan.param<write, f32, 16>]
    plan.launch @"rows#0" [...] "nn.kernel"
    module @kernels attributes {plan.target = "cpu"} {
      func.func @source.0(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {plan.kernels = [@"rows#0"]} {...}
    }
    ```
    After:
    ```mlir
    plan.kernel @rows_0123456789abcdef rows grid 1 flops 0 [#plan.param<read, f32, 16>, #plan.param<write, f32, 16>]
    plan.launch @rows_0123456789abcdef [...] "nn.kernel"
    module @kernels attributes {plan.target = "cpu"} { func.func @rows_0123456789abcdef(...) {...} }
    ```
  }];
  let dependentDialects = [
    "::trainc::plan::PlanDialect", "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

#endif
