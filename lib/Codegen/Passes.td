#ifndef TRAINC_CODEGEN_PASSES
#define TRAINC_CODEGEN_PASSES

include "mlir/Pass/PassBase.td"

def PadRowsPass : Pass<"pad-rows", "::mlir::ModuleOp"> {
  let summary = "puts padding behind the rows of tensors, so that all of them begin on borders";
  let description = [{
    GPUs move 16 bytes at a time, and multiply matrices fastest, if every row begins on a border of 16 bytes. Rows of 50,257 numbers of bf16
    do not. A tensor whose rows are 512 bytes or more, and end between borders, gets padding behind each of them: if the ops that make
    and read it are row kernels, to which its rows are rows, and products that a library computes. Others keep their rows together.
    `plan.row_padding` says of each operand of an op, and then of each result, how many elements lie behind a row. Types do not change.
    Memory planning counts the padding. Targets without such borders are left alone.

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
  let summary = "notes on each scheduled op how it is launched, without making code";
  let description = [{
    Declares kernels by `plan.kernel`: their grid, their flops, and what of their arguments they read and write. An op gets three
    attributes:

    * `plan.launches`: its kernels in order. Their arguments are numbered through operands, results and scratch buffers. If the target
      leaves the op to a library of the device (`library_calls` of `train.program`), it is `plan.library_call` instead.
    * `plan.scratch`: the type of each scratch buffer.
    * `plan.may_alias`: the operands that a result may overwrite.

    A start of a collective whose sums the target makes by a kernel gets `plan.rank_sum`, that kernel, and in `plan.scratch` the bytes
    into which other ranks send.

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

    Memory planning needs no more. Aliases and loops need no kernel. Of ops that are equal, one goes into the nested module @kernels, as
    a function from which `generate-kernels` makes code. Ops that are marked `plan.on_host` are launched as on CPUs, and go into a module
    @host_kernels. `fp32_products` of `train.program` says how products are computed.
  }];
  let dependentDialects = [
    "::trainc::dist::DistDialect", "::trainc::plan::PlanDialect", "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def GenerateKernelsPass : Pass<"generate-kernels", "::mlir::ModuleOp"> {
  let summary = "generates the code of the kernels that summarise-kernels declared";
  let description = [{
    The functions of the module @kernels become code for its target, which names kernels: equal ones exist once. So do those of
    @host_kernels, if there is one.

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
