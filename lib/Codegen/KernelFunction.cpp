// The frame of every kernel.
#include "lib/Codegen/KernelFunction.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace trainc::codegen;

KernelFunction::KernelFunction(ModuleOp kernels, StringRef kind)
    : kernels(kernels), kind(kind), opBuilder(kernels.getContext()), emitter(opBuilder) {
  opBuilder.setInsertionPointToEnd(kernels.getBody());
  Type i64 = opBuilder.getI64Type();
  auto type = opBuilder.getFunctionType({emitter.pointerType(), i64, i64}, {});
  function = func::FuncOp::create(opBuilder, emitter.loc, "kernel", type);
  Block *entry = function.addEntryBlock();
  opBuilder.setInsertionPointToStart(entry);
  func::ReturnOp::create(opBuilder, emitter.loc);
  opBuilder.setInsertionPointToStart(entry);
}

Value KernelFunction::param(const KernelParam &param) {
  Value slot = LLVM::GEPOp::create(opBuilder, emitter.loc, emitter.pointerType(), emitter.pointerType(),
                                   function.getArgument(0),
                                   ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(params.size())});
  params.push_back(param);
  return LLVM::LoadOp::create(opBuilder, emitter.loc, emitter.pointerType(), slot);
}

Value KernelFunction::stackArray(Type element, int64_t count) {
  OpBuilder::InsertionGuard guard(opBuilder);
  opBuilder.setInsertionPointToStart(&function.front());
  return emitter.stackArray(element, count);
}

void KernelFunction::tiles(int64_t count, llvm::function_ref<void(Value)> body) {
  grid = count;
  Value end = emitter.min(function.getArgument(2), emitter.i64(grid));
  emitter.loop(function.getArgument(1), end, 1, body);
}

KernelLaunch KernelFunction::finish(int64_t flops) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  function.print(stream, OpPrintingFlags().useLocalScope());
  std::string symbol =
      kind + "_" + llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true, /*Width=*/16);
  if (kernels.lookupSymbol(symbol))
    function.erase();
  else
    function.setSymName(symbol);
  return {symbol, grid, params, flops};
}

int64_t trainc::codegen::elementBytes(Type element) {
  return Emitter::memoryType(element).getIntOrFloatBitWidth() / 8;
}

int64_t trainc::codegen::elementCount(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getNumElements();
}

static KernelParam tensorParam(KernelParam::Source source, unsigned index, Access access, Value tensor) {
  Type element = Emitter::memoryType(getElementTypeOrSelf(tensor));
  return {source, index, access, element, elementCount(tensor) * elementBytes(element)};
}

KernelParam trainc::codegen::operandParam(Operation *op, unsigned index) {
  return tensorParam(KernelParam::Source::Operand, index, Access::Read, op->getOperand(index));
}

KernelParam trainc::codegen::resultParam(Operation *op, unsigned index, Access access) {
  return tensorParam(KernelParam::Source::Result, index, access, op->getResult(index));
}

KernelParam trainc::codegen::scratchParam(GeneratedKernels &kernels, unsigned index, Access access,
                                          Type element) {
  return {KernelParam::Source::Scratch, index, access, element, kernels.scratchBytes[index]};
}
