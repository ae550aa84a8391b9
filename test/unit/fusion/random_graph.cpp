#include "test/unit/fusion/random_graph.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::test;

RandomGraph::RandomGraph(MLIRContext &context, unsigned seed, ArrayRef<int64_t> shape)
    : generator(seed), shape(shape), builder(&context), build_(builder, builder.getUnknownLoc()),
      f32(builder.getF32Type()) {}

OwningOpRef<ModuleOp> RandomGraph::build(int ops) {
  Location loc = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToStart(module->getBody());
  SmallVector<Type> arguments;
  for (ArrayRef<int64_t> part : {ArrayRef(shape), ArrayRef(shape).take_front(2), ArrayRef(shape).take_back(1),
                                 ArrayRef(shape).take_back(2)})
    arguments.push_back(RankedTensorType::get(part, f32));
  auto function = func::FuncOp::create(builder, loc, "f", builder.getFunctionType(arguments, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  llvm::append_range(values, function.getArguments());
  while (ops > 0)
    if (Value value = make()) {
      values.push_back(value);
      --ops;
    }
  SmallVector<Value> results;
  for (Value value : values)
    if (value.use_empty() && value.getDefiningOp())
      results.push_back(value);
  func::ReturnOp::create(builder, loc, results);
  function.setType(builder.getFunctionType(arguments, ValueRange(results).getTypes()));
  return module;
}

Value RandomGraph::sameShape(Value value) {
  SmallVector<Value> equal;
  for (Value other : values)
    if (other.getType() == value.getType())
      equal.push_back(other);
  return equal[pick(int(equal.size()))];
}

/// A new value, or null if the choice does not fit the existing values. Numbers stay small.
Value RandomGraph::make() {
  Value x = any();
  switch (pick(12)) {
  case 0:
    return build_.create<nn::TanhOp>(x).getResult();
  case 1:
    return build_.create<nn::SigmoidOp>(x).getResult();
  case 2:
    return build_.add(x, sameShape(x));
  case 3:
    return build_.create<nn::TanhOp>(build_.mul(x, sameShape(x))).getResult();
  case 4:
    return build_.select(build_.compare(nn::Predicate::lt, x, sameShape(x)), x, sameShape(x));
  case 5:
  case 6:
    return makeReduce();
  case 7:
  case 8:
    return makeBroadcast();
  case 9:
    return makeReshape();
  case 10:
    return coin() ? makeLookup() : makeFree();
  default:
    return makeLibraryCall();
  }
}

Value RandomGraph::makeReduce() {
  Value x = any();
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < nn::tensorType(x).getRank(); ++dim)
    if (coin())
      dims.push_back(dim);
  if (dims.empty())
    return {};
  Value reduced = build_.reduce(coin() ? nn::ReduceKind::sum : nn::ReduceKind::max, x, dims, coin());
  return build_.create<nn::TanhOp>(reduced).getResult();
}

Value RandomGraph::makeBroadcast() {
  Value x = any();
  ArrayRef<int64_t> from = nn::shapeOf(x);
  if (from.size() > 3)
    return {};
  for (auto [size, wanted] : llvm::zip(llvm::reverse(from), llvm::reverse(shape)))
    if (size != 1 && size != wanted)
      return {};
  return build_.broadcastTo(x, shape);
}

Value RandomGraph::makeReshape() {
  Value x = any();
  SmallVector<int64_t> to(nn::shapeOf(x));
  if (to.size() < 3 && coin())
    to.insert(to.begin() + pick(int(to.size()) + 1), 1);
  else if (to.size() > 1 && coin()) {
    to[0] *= to[1];
    to.erase(to.begin() + 1);
  } else if (nn::tensorType(x).getNumElements() == shape[0] * shape[1] * shape[2])
    to = shape;
  return to == nn::shapeOf(x) ? Value() : build_.reshape(x, to);
}

Value RandomGraph::makeLookup() {
  Value table = any();
  if (nn::tensorType(table).getRank() != 2)
    return {};
  auto type = RankedTensorType::get({shape[0], shape[1]}, builder.getI32Type());
  Value ids = build_.create<nn::IotaOp>(builder.getI64IntegerAttr(pick(2)), TypeAttr::get(type)).getResult();
  return build_.create<nn::GatherOp>(table, ids).getResult();
}

Value RandomGraph::makeLibraryCall() {
  Value x = any();
  int64_t rank = nn::tensorType(x).getRank();
  if (rank != 2)
    return rank == 3 ? build_.transpose(x, {1, 0, 2}) : Value();
  return build_.create<nn::TanhOp>(build_.matmul(x, sameShape(x), {.transposeRhs = true})).getResult();
}

Value RandomGraph::makeFree() {
  auto type = RankedTensorType::get(coin() ? ArrayRef(shape) : ArrayRef(shape).take_back(2), f32);
  if (coin())
    return build_.constant(0.25 * pick(4), type);
  Value index =
      build_.create<nn::IotaOp>(builder.getI64IntegerAttr(pick(int(type.getRank()))), TypeAttr::get(type))
          .getResult();
  return build_.create<nn::CosOp>(index).getResult();
}
