// The frame of every kernel.
#include "lib/Codegen/Kernels/KernelFunction.h"

#include "dialects/NN/Builders.h"
#include "lib/Codegen/Kernels/ConstantOperands.h"
#include "lib/Support/StoredElement.h"
#include "plan/schema/cuda_levels.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

/// Number of the argument of CPU kernels that points to a block's memory, if the launch has any.
static constexpr unsigned kBlockMemory = 3;

KernelFunction::KernelFunction(KernelModule &kernels, const LaunchSummary &launch)
    : kernels(kernels), launch(launch), opBuilder(kernels.getContext()), emitter(opBuilder) {
  opBuilder.setInsertionPointToEnd(kernels.getBody());
  isOfThreads() ? takeArgumentsOfThreads() : takeArgumentsOfTiles();
}

void KernelFunction::createFunction(ArrayRef<Type> inputs) {
  function = func::FuncOp::create(opBuilder, emitter.loc, "kernel", opBuilder.getFunctionType(inputs, {}));
  ownArguments = inputs.size();
  Block *entry = function.addEntryBlock();
  opBuilder.setInsertionPointToStart(entry);
  func::ReturnOp::create(opBuilder, emitter.loc);
  opBuilder.setInsertionPointToStart(entry);
}

void KernelFunction::takeArgumentsOfTiles() {
  Type i64 = opBuilder.getI64Type();
  SmallVector<Type> inputs = {emitter.pointerType(), i64, i64};
  if (launch.sharedBytes > 0)
    inputs.push_back(emitter.pointerType());
  createFunction(inputs);
  if (launch.sharedBytes > 0) {
    function.setArgAttr(kBlockMemory, LLVM::LLVMDialect::getNoAliasAttrName(), opBuilder.getUnitAttr());
    blockMemory = function.getArgument(kBlockMemory);
  }
  for (size_t i = 0; i < launch.params.size(); ++i) {
    Value slot =
        LLVM::GEPOp::create(opBuilder, emitter.loc, emitter.pointerType(), emitter.pointerType(),
                            function.getArgument(0), ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
    arguments.push_back(LLVM::LoadOp::create(opBuilder, emitter.loc, emitter.pointerType(), slot));
  }
}

/// Pointers are passed directly as arguments; blocks read their number and memory from the hardware.
void KernelFunction::takeArgumentsOfThreads() {
  emitter.alignsVectors = true;
  createFunction(SmallVector<Type>(launch.params.size(), emitter.pointerType()));
  llvm::append_range(arguments, function.getArguments());
  ownThread = widened(NVVM::ThreadIdXOp::create(opBuilder, emitter.loc, opBuilder.getI32Type()));
  if (launch.sharedBytes > 0)
    blockMemory = addressOfBlockMemory();
}

/// Returns the block's own memory. Kernels with equal sizes share a variable. Sizes above the static limit
/// are allocated at the launch.
Value KernelFunction::addressOfBlockMemory() {
  const bool isStatic = launch.sharedBytes <= kCudaStaticSharedBytes;
  const std::string name =
      isStatic ? "block_memory_" + std::to_string(launch.sharedBytes) : "block_memory_of_launch";
  if (!SymbolTable::lookupSymbolIn(ModuleOp(kernels), name)) {
    OpBuilder outside = OpBuilder::atBlockBegin(kernels.getBody());
    auto bytes = LLVM::LLVMArrayType::get(outside.getI8Type(), isStatic ? unsigned(launch.sharedBytes) : 0);
    LLVM::GlobalOp::create(outside, emitter.loc, bytes, /*isConstant=*/false,
                           isStatic ? LLVM::Linkage::Internal : LLVM::Linkage::External, name, Attribute(),
                           /*alignment=*/kBlockArrayAlignment, unsigned(NVVM::NVVMMemorySpace::Shared));
  }
  Type shared = LLVM::LLVMPointerType::get(opBuilder.getContext(), unsigned(NVVM::NVVMMemorySpace::Shared));
  Value address = LLVM::AddressOfOp::create(opBuilder, emitter.loc, shared, name);
  return LLVM::AddrSpaceCastOp::create(opBuilder, emitter.loc, emitter.pointerType(), address);
}

Value KernelFunction::widened(Value number) {
  return arith::ExtUIOp::create(opBuilder, emitter.loc, opBuilder.getI64Type(), number);
}

Value KernelFunction::argument(KernelParam::Source source, unsigned index) {
  for (auto [param, value] : llvm::zip_equal(launch.params, arguments))
    if (param.source == source && param.index == index)
      return value;
  llvm_unreachable("not an argument of the launch");
}

Value KernelFunction::stream(int64_t number) {
  const auto *known = llvm::find(streams, number);
  const unsigned index = ownArguments + unsigned(known - streams.begin());
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

Value KernelFunction::blockArray(Type element, int64_t count) {
  OpBuilder::InsertionGuard guard(opBuilder);
  if (Operation *made = blockMemory.getDefiningOp())
    opBuilder.setInsertionPointAfter(made);
  else
    opBuilder.setInsertionPointToStart(&function.front());
  Value array = emitter.pointer(blockMemory, opBuilder.getI8Type(), emitter.i64(blockBytes));
  blockBytes += blockArrayBytes(element, count);
  return array;
}

int64_t trainc::codegen::blockArrayBytes(Type element, int64_t count) {
  return llvm::alignTo(count * elementBytes(storedElement(element)), kBlockArrayAlignment);
}

void KernelFunction::tiles(llvm::function_ref<void(Value)> body) {
  if (isOfThreads())
    return body(widened(NVVM::BlockIdXOp::create(opBuilder, emitter.loc, opBuilder.getI32Type())));
  tileRange([&](Value begin, Value end) { emitter.loop(begin, end, 1, body); });
}

void KernelFunction::tileRange(llvm::function_ref<void(Value, Value)> body) {
  assert(!isOfThreads() && "blocks of threads run one tile");
  body(function.getArgument(1), emitter.min(function.getArgument(2), emitter.i64(launch.grid)));
}

Value KernelFunction::thread() { return isOfThreads() ? ownThread : emitter.i64(0); }

void KernelFunction::barrier() {
  if (isOfThreads())
    NVVM::Barrier0Op::create(opBuilder, emitter.loc);
}

void KernelFunction::once(llvm::function_ref<void()> body) {
  if (!isOfThreads())
    return body();
  barrier();
  emitter.when(
      arith::CmpIOp::create(opBuilder, emitter.loc, arith::CmpIPredicate::eq, ownThread, emitter.i64(0)),
      body);
}

std::string KernelFunction::nameByContent(func::FuncOp made, StringRef prefix,
                                          ArrayRef<KernelParam> launched) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  made.print(stream, OpPrintingFlags().useLocalScope());
  for (const KernelParam &param : launched) {
    stream << " " << param.bytes;
    if (nn::isLowPrecision(param.element) || nn::isFp8(param.element)) // code may hold these as plain bits
      stream << " " << param.element;
  }
  if (launch.sharedBytes > 0)
    stream << " shared " << launch.sharedBytes;
  if (isOfThreads())
    stream << " threads " << launch.threads;
  std::string symbol =
      (prefix + llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true, /*Width=*/16)).str();
  if (kernels.lookup(symbol)) {
    made.erase();
    return symbol;
  }
  made.setSymName(symbol);
  kernels.add(made);
  return symbol;
}

/// Marks the function as a kernel that can be launched on a GPU.
void KernelFunction::noteEntry(func::FuncOp entry) {
  if (!isOfThreads())
    return;
  entry->setAttr(kThreadsAttr, opBuilder.getI32IntegerAttr(int32_t(launch.threads)));
  if (launch.minBlocks > 0)
    entry->setAttr(kMinBlocksAttr, opBuilder.getI32IntegerAttr(int32_t(launch.minBlocks)));
  promiseConstant(entry, launch.params);
}

/// Whether the launch reads only single numbers, such as a seed.
static bool readsNumbersAlone(const LaunchSummary &launch) {
  return llvm::all_of(launch.params, [](const KernelParam &param) {
    return param.access == plan::Access::write || param.bytes <= elementBytes(storedElement(param.element));
  });
}

/// For GPUs LLVM copies code into each kernel that calls it: in a deep model, the code that draws a
/// parameter's first values as often as there are parameters. Where the code reads tensors, it stays a part
/// of its kernels, since what it knows of their arguments makes its loads faster.
std::string KernelFunction::finish() {
  assert(blockBytes == launch.sharedBytes && "a summary says what the code takes");
  if (streams.empty()) {
    noteEntry(function);
    return nameByContent(function, launch.name + "_", launch.params);
  }
  makeInternal(function);
  if (isOfThreads() && readsNumbersAlone(launch))
    function->setAttr("passthrough", opBuilder.getStrArrayAttr({"noinline"}));
  FunctionType type = function.getFunctionType();
  std::string shared = nameByContent(function, launch.name + "_shared_", {});
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
  noteEntry(outer);
  return nameByContent(outer, launch.name + "_", launch.params);
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

func::FuncOp trainc::codegen::internalFunction(KernelModule &kernels, StringRef name, TypeRange inputs,
                                               llvm::function_ref<void(Emitter &, func::FuncOp)> body) {
  if (auto made = kernels.lookup(name))
    return made;
  OpBuilder builder = OpBuilder::atBlockEnd(kernels.getBody());
  Emitter emit(builder);
  auto function = func::FuncOp::create(builder, emit.loc, name, builder.getFunctionType(inputs, {}));
  kernels.add(function);
  makeInternal(function);
  builder.setInsertionPointToStart(function.addEntryBlock());
  body(emit, function);
  func::ReturnOp::create(builder, emit.loc);
  return function;
}
