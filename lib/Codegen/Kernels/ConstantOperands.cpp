#include "lib/Codegen/Kernels/ConstantOperands.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace trainc;

void codegen::promiseConstant(func::FuncOp kernel, ArrayRef<KernelParam> params) {
  for (auto [index, param] : llvm::enumerate(params))
    if (param.access == plan::Access::read)
      for (StringRef promise :
           {LLVM::LLVMDialect::getNoAliasAttrName(), LLVM::LLVMDialect::getReadonlyAttrName()})
        kernel.setArgAttr(index, promise, UnitAttr::get(kernel.getContext()));
}

void codegen::mayChange(func::FuncOp kernel, unsigned index) {
  for (StringRef promise :
       {LLVM::LLVMDialect::getNoAliasAttrName(), LLVM::LLVMDialect::getReadonlyAttrName()})
    kernel.removeArgAttr(index, StringAttr::get(kernel.getContext(), promise));
}
