#include "test/programs/generator.h"

#include "dialects/NN/Builders.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::programs;

/// How often an op is tried with other operands and attributes, and how often the one that a model is to
/// have.
constexpr int kAttempts = 200, kPatientAttempts = 10000;

// --- Ops of the dialect ---

/// Whether models compute with the op: ops with a gradient, elementwise ops, or composite ops. Random numbers
/// come from layers, which name their streams, and from updates, which name their draw.
static bool isTensorOp(RegisteredOperationName name) {
  auto has = [&](StringRef attribute) {
    return llvm::is_contained(name.getAttributeNames(),
                              StringAttr::get(name.getDialect().getContext(), attribute));
  };
  return isa<nn::NNDialect>(name.getDialect()) && !name.hasTrait<nn::Generated>() &&
         name.hasInterface<InferTypeOpInterface>() && !has("stream") && !has("draw") &&
         (name.hasInterface<DifferentiableOpInterface>() || name.hasInterface<ElementwiseOpInterface>() ||
          name.hasInterface<DecomposableOpInterface>());
}

static SmallVector<RegisteredOperationName> tensorOps(MLIRContext &context) {
  SmallVector<RegisteredOperationName> names;
  for (RegisteredOperationName name : context.getRegisteredOperations())
    if (isTensorOp(name))
      names.push_back(name);
  llvm::sort(names, [](auto a, auto b) { return a.getStringRef() < b.getStringRef(); });
  return names;
}

std::vector<std::string> Generator::opNames(MLIRContext &context) {
  std::vector<std::string> names;
  for (RegisteredOperationName name : tensorOps(context))
    names.push_back(name.getStringRef().str());
  return names;
}

// --- Leaves ---

static OwningOpRef<ModuleOp> emptyModel(MLIRContext &context,
                                        ArrayRef<std::pair<std::string, std::string>> columns) {
  std::string text = "nn.model @m(";
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(columns, stream,
                        [&](auto &column) { stream << "%" << column.first << ": " << column.second; });
  stream << ") {}";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  if (!module)
    llvm::report_fatal_error("an empty model does not parse");
  return module;
}

/// Sizes below, at and above a vector's lanes, and those of several tiles and panels.
constexpr std::initializer_list<int64_t> kSizes = {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33};
constexpr std::initializer_list<int64_t> kLargeSizes = {1, 4, 15, 16, 48, 64, 65, 100, 129, 260};
/// From so many elements on, sizes are large.
constexpr int64_t kLarge = 5000;

Generator::Generator(MLIRContext &context, unsigned seed, int64_t maxElements)
    : seed_(seed), maxElements_(maxElements), random_(seed), context_(context), builder_(&context),
      trial_(context, seed, maxElements) {
  batch_ = oneOf<int64_t>({2, 3, 4});
  for (int i = 0; i < 3; ++i)
    sizes_.push_back(oneOf(maxElements_ < kLarge ? kSizes : kLargeSizes));
  createColumns();
  for (int i = 0; i < 3; ++i)
    createParameter();
}

RankedTensorType Generator::drawType(Type element, bool isBatched) {
  SmallVector<int64_t> shape;
  if (isBatched)
    shape.push_back(batch_);
  for (unsigned dims = pick(3) + (isBatched ? 0 : 1); dims > 0; --dims)
    shape.push_back(sizes_[pick(sizes_.size())]);
  while (ShapedType::getNumElements(shape) > maxElements_ * 5 / 7)
    shape.pop_back();
  return RankedTensorType::get(shape, element);
}

void Generator::createColumns() {
  Type f32 = builder_.getF32Type(), i32 = builder_.getI32Type();
  SmallVector<RankedTensorType> types = {drawType(f32, true), drawType(f32, true), drawType(i32, true),
                                         drawType(i32, true)};
  std::vector<std::pair<std::string, std::string>> columns;
  for (auto [index, type] : llvm::enumerate(types)) {
    SmallVector<int64_t> shape(type.getShape());
    shape[0] = ShapedType::kDynamic;
    std::string text;
    llvm::raw_string_ostream(text) << RankedTensorType::get(shape, type.getElementType());
    columns.push_back({llvm::formatv("c{0}", index), text});
  }
  module_ = emptyModel(context_, columns);
  model_ = *module_->getOps<nn::ModelOp>().begin();
  builder_.setInsertionPointToEnd(&model_.getBody().front());
  for (auto [argument, type] : llvm::zip(model_.getBody().getArguments(), types)) {
    trial_.defineLeaf(argument, type);
    values_.push_back(argument);
  }
}

void Generator::createParameter() {
  RankedTensorType type = drawType(builder_.getF32Type(), chance(4));
  OperationState state(builder_.getUnknownLoc(), nn::ParameterOp::getOperationName());
  state.addAttribute("name", builder_.getStringAttr(llvm::formatv("p{0}", parameters_++).str()));
  state.addAttribute("type", TypeAttr::get(type));
  state.addAttribute("init", nn::InitAttr::get(&context_, "normal", builder_.getF64FloatAttr(0.5),
                                               builder_.getF64FloatAttr(0)));
  state.addTypes(nn::DeferredType::get(&context_));
  Value value = builder_.create(state)->getResult(0);
  trial_.defineLeaf(value, type);
  values_.push_back(value);
}

// --- Operands and attributes ---

/// One of the latest values half of the time, so that models are deep.
Value Generator::anyValue() {
  const size_t recent = std::min<size_t>(values_.size(), 5);
  return chance(2) ? values_[values_.size() - 1 - pick(recent)] : values_[pick(values_.size())];
}

/// Often one that is in some way like the operand before it, or of an element type that few values have.
Value Generator::drawOperand(ArrayRef<Value> before) {
  SmallVector<Value> likely;
  if (!before.empty() && chance(2)) {
    RankedTensorType type = trial_.typeOf(before.back());
    llvm::copy_if(values_, std::back_inserter(likely),
                  [&](Value value) { return trial_.typeOf(value).getShape() == type.getShape(); });
  } else if (chance(2)) {
    const Type element = oneOf<Type>({builder_.getI1Type(), builder_.getI32Type(), builder_.getF32Type()});
    llvm::copy_if(values_, std::back_inserter(likely),
                  [&](Value value) { return trial_.typeOf(value).getElementType() == element; });
  }
  return likely.empty() ? anyValue() : likely[pick(likely.size())];
}

/// Number of operands that the op's traits allow; at most one optional operand.
size_t Generator::drawOperandCount(RegisteredOperationName name) {
  if (name.hasTrait<OpTrait::ZeroOperands>())
    return 0;
  if (name.hasTrait<OpTrait::OneOperand>())
    return 1;
  if (name.hasTrait<OpTrait::NOperands<2>::Impl>())
    return 2;
  if (name.hasTrait<OpTrait::NOperands<3>::Impl>())
    return 3;
  const unsigned further = pick(2);
  if (name.hasTrait<OpTrait::AtLeastNOperands<1>::Impl>())
    return 1 + further;
  if (name.hasTrait<OpTrait::AtLeastNOperands<2>::Impl>())
    return 2 + further;
  if (name.hasTrait<OpTrait::AtLeastNOperands<3>::Impl>())
    return 3 + further;
  return 1 + pick(3);
}

/// The shape of a reshape or a broadcast of the first operand.
Attribute Generator::drawShape(ValueRange operands) {
  SmallVector<int64_t> shape(trial_.typeOf(operands.front()).getShape());
  if (chance(2)) { // repeated
    for (int64_t &size : shape)
      if (size == 1 && chance(2))
        size = sizes_[pick(sizes_.size())];
    if (chance(2))
      shape.insert(shape.begin(), sizes_[pick(sizes_.size())]);
  } else if (!shape.empty() && chance(2)) { // a dimension in two
    const size_t dim = pick(shape.size());
    const auto factor = oneOf<int64_t>({1, 2, 3, 4, 8});
    if (shape[dim] % factor == 0) {
      shape[dim] /= factor;
      shape.insert(shape.begin() + dim + pick(2), factor);
    }
  } else if (shape.size() > 1) { // two in one
    const size_t dim = pick(shape.size() - 1);
    shape[dim] *= shape[dim + 1];
    shape.erase(shape.begin() + dim + 1);
  }
  return builder_.getDenseI64ArrayAttr(shape);
}

/// Indices of nn.attention's optional operands; a limit, 4, has no gradient.
constexpr size_t kSegments = 3, kSinks = 5, kDropoutKey = 6, kBias = 7;

/// Returns the index of the optional operand of nn.attention that the last operand can be by its type, if it
/// is the fourth.
std::optional<size_t> Generator::optionalOfAttention(ValueRange operands) {
  if (operands.size() <= kSegments)
    return std::nullopt;
  RankedTensorType type = trial_.typeOf(operands[kSegments]);
  if (!type.getElementType().isInteger(32))
    return type.getRank() == 1 ? kSinks : kBias;
  return type.getRank() == 1 ? kDropoutKey : kSegments;
}

/// A random attribute by name, which has the same meaning in every op of the dialect; null leaves it out.
Attribute Generator::drawAttribute(StringRef name, ValueRange operands) {
  const auto rank = operands.empty() ? 2 : int64_t(trial_.typeOf(operands.front()).getRank());
  auto number = [&](std::initializer_list<double> choices) {
    return builder_.getF64FloatAttr(oneOf(choices));
  };
  auto count = [&](std::initializer_list<int64_t> choices) {
    return builder_.getI64IntegerAttr(oneOf(choices));
  };
  auto flag = [&]() -> Attribute { return chance(2) ? builder_.getUnitAttr() : UnitAttr(); };
  if (name == "value")
    return number({0, 1, -1, 0.5, 2, -3, 1e-3});
  if (name == "type")
    return TypeAttr::get(
        drawType(chance(3) ? Type(builder_.getI32Type()) : builder_.getF32Type(), chance(2)));
  if (name == "to") // sums of f32 numbers have none
    return chance(2) ? Attribute()
                     : TypeAttr::get(oneOf<Type>(
                           {builder_.getF32Type(), builder_.getI32Type(), builder_.getI64Type()}));
  if (name == "predicate")
    return nn::PredicateAttr::get(&context_, nn::Predicate(pick(nn::getMaxEnumValForPredicate() + 1)));
  if (name == "kind")
    return nn::ReduceKindAttr::get(&context_, nn::ReduceKind(pick(nn::getMaxEnumValForReduceKind() + 1)));
  if (name == "shape")
    return drawShape(operands);
  if (name == "dim")
    return builder_.getI64IntegerAttr(rank == 0 ? 0 : int64_t(pick(2 * rank)) - rank);
  if (name == "dims") {
    SmallVector<int64_t> dims;
    for (int64_t dim = 0; dim < rank; ++dim)
      if (chance(2))
        dims.push_back(chance(4) ? dim - rank : dim);
    return builder_.getDenseI64ArrayAttr(dims);
  }
  if (name == "permutation") {
    auto dims = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    std::shuffle(dims.begin(), dims.end(), random_);
    return builder_.getDenseI64ArrayAttr(dims);
  }
  if (name == "offset" || name == "low" || name == "high")
    return count({0, 0, 1, 2});
  if (name == "size" || name == "count" || name == "heads")
    return count({1, 2, 3, 4});
  if (name == "kv_heads")
    return chance(2) ? Attribute() : count({1, 2});
  if (name == "scale")
    return chance(2) ? Attribute() : number({0.5, 1, -0.25});
  if (name == "window")
    return chance(2) ? Attribute() : count({1, 2, 3});
  if (name == "softcap")
    return chance(2) ? Attribute() : number({0.5, 3});
  if (name == "alibi")
    return chance(2) ? Attribute() : number({1, 0.25});
  if (name == "dropout")
    return optionalOfAttention(operands) == kDropoutKey ? number({0.25, 0.5}) : Attribute();
  // A number takes the place of one of two equal operands.
  const bool mayBeNumber = operands.size() >= 2 && operands.back() == operands.drop_back().back();
  if (name == "number")
    return mayBeNumber && chance(2) ? number({0.5, 2, -1}) : Attribute();
  if (name == "number_first")
    return mayBeNumber ? flag() : Attribute();
  if (name == "rotary")
    return chance(2) ? Attribute() : count({2, 4});
  if (name == "scaling")
    return chance(2) ? Attribute()
                     : nn::RopeScalingAttr::get(
                           &context_, "linear",
                           builder_.getDictionaryAttr(builder_.getNamedAttr("factor", number({4, 0.5}))));
  if (name == "sizes") // of the parts of nn.split
    return chance(2) ? Attribute()
                     : builder_.getDenseI64ArrayAttr({int64_t(1 + pick(3)), int64_t(1 + pick(3))});
  if (name == "eps")
    return number({1e-5, 0.1, 1});
  if (name == "theta")
    return number({10, 10000});
  if (name == "smoothing")
    return number({0, 0.1});
  if (name == "ignore")
    return count({-100, 0, 1});
  if (name == "operandSegmentSizes") {
    SmallVector<int32_t> sizes(8, 0); // of nn.attention
    std::fill_n(sizes.begin(), std::min<size_t>(operands.size(), 3), 1);
    if (std::optional<size_t> optional = optionalOfAttention(operands))
      sizes[*optional] = 1;
    return builder_.getDenseI32ArrayAttr(sizes);
  }
  if (llvm::is_contained({"approximate", "keep", "transpose_lhs", "transpose_rhs", "reduce_batch", "causal",
                          "inverse", "interleaved"},
                         name))
    return flag();
  llvm::report_fatal_error("the generator of programs does not know the attribute '" + name +
                           "'; say in Generator::drawAttribute what it may be");
}

// --- Ops ---

bool Generator::tryOp(RegisteredOperationName name) {
  ScopedDiagnosticHandler quiet(&context_, [](Diagnostic &) { return success(); });
  OperationState state(builder_.getUnknownLoc(), name);
  for (size_t i = drawOperandCount(name); i > 0; --i)
    state.operands.push_back(drawOperand(state.operands));
  for (StringAttr attribute : name.getAttributeNames())
    if (Attribute value = drawAttribute(attribute, state.operands))
      state.addAttribute(attribute, value);
  Operation *untyped = Operation::create(state);
  SmallVector<Type> types;
  const LogicalResult inferred = cast<InferTypeOpInterface>(untyped).inferReturnTypes(
      &context_, untyped->getLoc(), untyped->getOperands(), untyped->getAttrDictionary(),
      untyped->getPropertiesStorage(), untyped->getRegions(), types);
  untyped->destroy();
  if (failed(inferred))
    return false;
  state.types.assign(types.size(), nn::DeferredType::get(&context_));
  Operation *op = builder_.create(state);
  if (!trial_.accept(op)) {
    op->erase();
    return false;
  }
  llvm::append_range(values_, op->getResults());
  return true;
}

/// Every number that nothing else uses adds to the loss.
void Generator::addLosses() {
  int losses = 0;
  for (Value value : values_) {
    if (!value.use_empty() || !value.getDefiningOp() ||
        !isa<FloatType>(trial_.typeOf(value).getElementType()))
      continue;
    OperationState state(builder_.getUnknownLoc(), nn::LossOp::getOperationName());
    state.addOperands(value);
    state.addAttribute("name", builder_.getStringAttr(llvm::formatv("l{0}", losses++).str()));
    state.addAttribute("scale", builder_.getF64FloatAttr(oneOf({1.0, 0.5})));
    builder_.create(state);
  }
}

// --- Blocks ---

/// Values that ops use and others define.
static SmallVector<Value> valuesInto(ArrayRef<Operation *> ops) {
  llvm::SetVector<Value> values;
  for (Operation *op : ops)
    for (Value operand : op->getOperands())
      if (!llvm::is_contained(ops, operand.getDefiningOp()))
        values.insert(operand);
  return values.takeVector();
}

/// Values that ops define and others use.
static SmallVector<Value> valuesOutOf(ArrayRef<Operation *> ops) {
  SmallVector<Value> values;
  for (Operation *op : ops)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !llvm::is_contained(ops, user); }))
        values.push_back(result);
  return values;
}

void Generator::moveIntoBlock(ArrayRef<Operation *> ops, const std::string &name) {
  SmallVector<Value> inputs = valuesInto(ops), outputs = valuesOutOf(ops);
  if (outputs.empty())
    return;
  OpBuilder outer(model_);
  OperationState blockState(model_.getLoc(), nn::BlockOp::getOperationName());
  blockState.addAttribute("sym_name", outer.getStringAttr(name));
  blockState.addAttribute("argument_types",
                          outer.getTypeArrayAttr(llvm::map_to_vector(
                              inputs, [&](Value value) { return Type(trial_.typeOf(value)); })));
  Block &body = blockState.addRegion()->emplaceBlock();
  IRMapping inside;
  for (Value input : inputs)
    inside.map(input, body.addArgument(nn::DeferredType::get(&context_), input.getLoc()));
  OpBuilder inner(&context_);
  inner.setInsertionPointToEnd(&body);
  for (Operation *op : ops)
    inner.clone(*op, inside);
  nn::ReturnOp::create(inner, model_.getLoc(),
                       llvm::map_to_vector(outputs, [&](Value v) { return inside.lookup(v); }));
  outer.create(blockState);

  OpBuilder at(ops.front());
  OperationState use(model_.getLoc(), nn::ApplyOp::getOperationName());
  use.addOperands(inputs);
  use.addAttribute("block", FlatSymbolRefAttr::get(&context_, name));
  use.addAttribute("scope", at.getStringAttr(name));
  use.types.assign(outputs.size(), nn::DeferredType::get(&context_));
  Operation *apply = at.create(use);
  for (auto [output, result] : llvm::zip(outputs, apply->getResults())) {
    trial_.defineAs(result, output);
    output.replaceUsesWithIf(
        result, [&](OpOperand &operand) { return !llvm::is_contained(ops, operand.getOwner()); });
  }
  for (Operation *op : llvm::reverse(ops))
    op->erase();
}

/// Cuts the model's ops, up to its losses, into `blocks` pieces.
void Generator::outline(size_t blocks) {
  SmallVector<Operation *> ops;
  for (Operation &op : model_.getBody().front())
    if (!isa<nn::LossOp>(op))
      ops.push_back(&op);
  for (size_t i = 0; i < blocks; ++i) {
    const size_t begin = ops.size() * i / blocks, end = ops.size() * (i + 1) / blocks;
    if (begin < end)
      moveIntoBlock(ArrayRef(ops).slice(begin, end - begin), llvm::formatv("b{0}", i));
  }
}

std::string Generator::build(int ops) {
  const SmallVector<RegisteredOperationName> names = tensorOps(context_);
  auto make = [&](RegisteredOperationName name, int attempts) {
    while (attempts > 0 && !tryOp(name))
      --attempts;
    return attempts > 0;
  };
  make(*RegisteredOperationName::lookup(nn::CompareOp::getOperationName(), &context_),
       kAttempts); // more attempts for selecting ops
  make(names[seed_ % names.size()], kPatientAttempts);
  for (int made = 0; made < ops;) {
    if (chance(8))
      createParameter();
    made += make(names[pick(names.size())], kAttempts);
  }
  addLosses();
  outline(pick(4));
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (Operation &op : *module_->getBody())
    stream << op << "\n";
  stream << llvm::formatv("train.program @p {{ model @m optimizer sgd(lr 1) batch {0} }\n", batch_);
  return text;
}
