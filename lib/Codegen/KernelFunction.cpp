// The frame of every kernel.
#include "lib/Codegen/KernelFunction.h"

#include "lib/Support/StoredElement.h"
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

Value KernelFunction::stream(int64_t number) {
  const auto *known = llvm::find(streams, number);
  const unsigned index = 3 + unsigned(known - streams.begin());
  if (known == streams.end()) {
    streams.push_back(number);
    if (failed(function.insertArgument(index, opBuilder.getI64Type(), {}, function.getLoc())))
      llvm_unreachable("kernels take further arguments");
  }
  return function.getArgument(index);
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

std::string KernelFunction::nameByContent(func::FuncOp made, StringRef prefix,
                                          ArrayRef<KernelParam> launched) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  made.print(stream, OpPrintingFlags().useLocalScope());
  for (const KernelParam &param : launched)
    stream << " " << param.bytes;
  std::string symbol =
      (prefix + llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true, /*Width=*/16)).str();
  if (kernels.lookupSymbol(symbol))
    made.erase();
  else
    made.setSymName(symbol);
  return symbol;
}

KernelLaunch KernelFunction::finish(int64_t flops) {
  if (streams.empty())
    return {nameByContent(function, kind + "_", params), grid, params, flops};
  makeInternal(function);
  FunctionType type = function.getFunctionType();
  std::string shared = nameByContent(function, kind + "_shared_", {});
  opBuilder.setInsertionPointToEnd(kernels.getBody());
  auto outer =
      func::FuncOp::create(opBuilder, emitter.loc, "kernel",
                           opBuilder.getFunctionType(type.getInputs().drop_back(streams.size()), {}));
  opBuilder.setInsertionPointToStart(outer.addEntryBlock());
  SmallVector<Value> args(outer.getArguments());
  for (int64_t number : streams)
    args.push_back(emitter.i64(number));
  func::CallOp::create(opBuilder, emitter.loc, shared, TypeRange(), args);
  func::ReturnOp::create(opBuilder, emitter.loc);
  return {nameByContent(outer, kind + "_", params), grid, params, flops};
}

void trainc::codegen::makeInternal(func::FuncOp function) {
  function.setPrivate();
  function->setAttr("llvm.linkage", LLVM::LinkageAttr::get(function.getContext(), LLVM::Linkage::Internal));
}

SmallVector<Type> trainc::codegen::argumentTypes(MLIRContext *context, unsigned pointers, unsigned integers) {
  SmallVector<Type> types(pointers, LLVM::LLVMPointerType::get(context));
  types.append(integers, IntegerType::get(context, 64));
  return types;
}

std::string trainc::codegen::typedName(StringRef name, Type element) {
  std::string text = (name + "_").str();
  llvm::raw_string_ostream(text) << element;
  return text;
}

func::FuncOp trainc::codegen::internalFunction(ModuleOp kernels, StringRef name, TypeRange inputs,
                                               llvm::function_ref<void(Emitter &, func::FuncOp)> body) {
  if (auto made = kernels.lookupSymbol<func::FuncOp>(name))
    return made;
  OpBuilder builder = OpBuilder::atBlockEnd(kernels.getBody());
  Emitter emit(builder);
  auto function = func::FuncOp::create(builder, emit.loc, name, builder.getFunctionType(inputs, {}));
  makeInternal(function);
  builder.setInsertionPointToStart(function.addEntryBlock());
  body(emit, function);
  func::ReturnOp::create(builder, emit.loc);
  return function;
}

int64_t trainc::codegen::elementCount(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getNumElements();
}

static KernelParam tensorParam(KernelParam::Source source, unsigned index, Access access, Value tensor) {
  Type element = trainc::storedElement(getElementTypeOrSelf(tensor));
  return {source, index, access, element, elementCount(tensor) * trainc::elementBytes(element)};
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
