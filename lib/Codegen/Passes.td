#ifndef TRAINC_CODEGEN_PASSES
#define TRAINC_CODEGEN_PASSES

include "mlir/Pass/PassBase.td"

def GenerateKernelsPass : Pass<"generate-kernels", "::mlir::ModuleOp"> {
  let summary = "generates the kernels of all scheduled ops and notes on each op how they are launched";
  let description = [{
    The kernels go into the nested module @kernels, where equal ones exist once, and are declared by `plan.kernel`. An op
    gets `plan.launches` (kernels in order, with arguments numbered through operands, results and scratch buffers),
    `plan.scratch` (bytes of each scratch buffer) and `plan.may_alias` (operands that a result may overwrite). Aliases and
    loops need no kernel.

    Before:
    ```mlir
    %1 = nn.kernel 1 x 4 (%a = %0 : tensor<4xf32>) -> (tensor<4xf32>) {...}
    ```
    After:
    ```mlir
    plan.kernel @k_0123456789abcdef rows grid 1 flops 0 [#plan.param<read, f32, 16>, #plan.param<write, f32, 16>]
    %1 = nn.kernel ... {plan.launches = [#plan.launch_spec<@k_0123456789abcdef(0, 1)>],
                        plan.may_alias = [array<i64: 0, 0>]}
    module @kernels { func.func @k_0123456789abcdef(...) {...} }
    ```
  }];
  let options = [Option<"products", "fp32-products", "::trainc::Fp32Products", "::trainc::Fp32Products::Fma",
                        "How products of f32 numbers are computed", [{::llvm::cl::values(
                          clEnumValN(::trainc::Fp32Products::Fma, "fma", "fused multiply-adds"),
                          clEnumValN(::trainc::Fp32Products::Bf16x3, "bf16x3", "as sums of three bf16 numbers, on AMX"))}]>];
  let dependentDialects = [
    "::trainc::plan::PlanDialect", "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

#endif
