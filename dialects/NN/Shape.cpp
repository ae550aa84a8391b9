// Result types and execution of ops that reduce, repeat or move elements.
#include "dialects/NN/Builders.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

using Inferred = FailureOr<SmallVector<Type>>;

/// `dim` counted from the front; an error where `x` (operand `name`) has no such dimension.
static FailureOr<int64_t> checkDim(int64_t dim, StringRef name, Value x, InferError error) {
  int64_t rank = tensorType(x).getRank();
  int64_t positive = normalizeDim(dim, rank);
  if (positive < 0 || positive >= rank)
    return error() << "dimension " << dim << " is not one of the " << rank << " dimensions of " << name
                   << ", " << x.getType();
  return positive;
}

static Inferred single(Value like, ArrayRef<int64_t> shape) {
  return SmallVector<Type>{typeLike(like, shape)};
}

Inferred ReduceOp::inferTypes(Adaptor adaptor, InferError error) {
  RankedTensorType type = tensorType(adaptor.getX());
  bool isFloat = isa<FloatType>(type.getElementType());
  if (type.getElementType().isInteger(1) || (adaptor.getKind() == ReduceKind::mean && !isFloat))
    return error() << "takes no " << stringifyReduceKind(adaptor.getKind()) << " of x, " << type
                   << "; use nn.convert";
  SmallVector<bool> reduced(type.getRank(), false);
  for (int64_t dim : adaptor.getDims()) {
    FailureOr<int64_t> positive = checkDim(dim, "x", adaptor.getX(), error);
    if (failed(positive))
      return failure();
    if (reduced[*positive])
      return error() << "dimension " << dim << " is reduced twice";
    reduced[*positive] = true;
  }
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    if (!reduced[dim])
      shape.push_back(size);
    else if (adaptor.getKeep())
      shape.push_back(1);
  }
  return single(adaptor.getX(), shape);
}

Inferred BroadcastOp::inferTypes(Adaptor adaptor, InferError error) {
  ArrayRef<int64_t> from = shapeOf(adaptor.getX()), to = adaptor.getShape();
  if (from.size() > to.size())
    return error() << "cannot repeat x, " << adaptor.getX().getType() << ", to the " << to.size()
                   << " dimensions of [" << to << "]";
  for (size_t dim = 0; dim < from.size(); ++dim) {
    int64_t size = to[to.size() - from.size() + dim];
    if (from[dim] != 1 && from[dim] != size)
      return error() << "cannot repeat dimension " << dim << " of x, " << adaptor.getX().getType()
                     << ", from " << from[dim] << " to " << size
                     << "; only dimensions of size 1 are repeated";
  }
  if (failed(checkSizes(to, error))) // those that are added, too
    return failure();
  return single(adaptor.getX(), to);
}

/// Fills in the sizes that 0 (x's own) and -1 (what remains) stand for.
static FailureOr<SmallVector<int64_t>> resolveShape(Value x, ArrayRef<int64_t> wanted, InferError error) {
  ArrayRef<int64_t> from = shapeOf(x);
  SmallVector<int64_t> shape(wanted);
  int64_t open = -1;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (size == 0) {
      if (dim >= from.size())
        return error() << "size 0 at position " << dim << " keeps x's dimension, but x, " << x.getType()
                       << ", has only " << from.size();
      size = from[dim];
    }
    if (size < -1 || (size == -1 && open >= 0))
      return error() << "shape [" << wanted << "] may hold one -1 and otherwise sizes";
    if (size == -1)
      open = dim;
  }
  SmallVector<int64_t> closed(shape);
  if (open >= 0)
    closed[open] = 1;
  if (failed(checkSizes(closed, error)))
    return failure();
  int64_t known = ShapedType::getNumElements(closed);
  int64_t elements = tensorType(x).getNumElements();
  if (open >= 0 && elements % known == 0)
    shape[open] = elements / known;
  if (ShapedType::getNumElements(shape) != elements || (open >= 0 && shape[open] < 0))
    return error() << "x, " << x.getType() << ", has " << elements
                   << " elements, which do not fit the shape [" << wanted << "]";
  return shape;
}

Inferred ReshapeOp::inferTypes(Adaptor adaptor, InferError error) {
  auto shape = resolveShape(adaptor.getX(), adaptor.getShape(), error);
  if (failed(shape))
    return failure();
  return single(adaptor.getX(), *shape);
}

Inferred TransposeOp::inferTypes(Adaptor adaptor, InferError error) {
  ArrayRef<int64_t> from = shapeOf(adaptor.getX()), permutation = adaptor.getPermutation();
  SmallVector<int64_t> sorted(permutation);
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, from.size())))
    return error() << "[" << permutation << "] is not a permutation of the " << from.size()
                   << " dimensions of x, " << adaptor.getX().getType();
  return single(adaptor.getX(), llvm::map_to_vector(permutation, [&](int64_t dim) { return from[dim]; }));
}

Inferred SliceOp::inferTypes(Adaptor adaptor, InferError error) {
  FailureOr<int64_t> dim = checkDim(adaptor.getDim(), "x", adaptor.getX(), error);
  if (failed(dim))
    return failure();
  SmallVector<int64_t> shape(shapeOf(adaptor.getX()));
  int64_t offset = adaptor.getOffset(), size = adaptor.getSize();
  if (offset < 0 || size < 1 || size > shape[*dim] - offset)
    return error() << size << " elements from " << offset << " on are not all in dimension " << *dim
                   << " of x, " << adaptor.getX().getType();
  shape[*dim] = size;
  return single(adaptor.getX(), shape);
}

Inferred PadOp::inferTypes(Adaptor adaptor, InferError error) {
  FailureOr<int64_t> dim = checkDim(adaptor.getDim(), "x", adaptor.getX(), error);
  if (failed(dim))
    return failure();
  int64_t low = adaptor.getLow(), high = adaptor.getHigh();
  if (std::min(low, high) < 0 || std::max(low, high) > INT32_MAX)
    return error() << "pads by a number of zeros below 2^31, found low " << low << " and high " << high;
  SmallVector<int64_t> shape(shapeOf(adaptor.getX()));
  shape[*dim] += low + high;
  return single(adaptor.getX(), shape);
}

Inferred ConcatOp::inferTypes(Adaptor adaptor, InferError error) {
  if (adaptor.getInputs().empty())
    return error() << "joins one tensor or more";
  Value first = adaptor.getInputs().front();
  FailureOr<int64_t> dim = checkDim(adaptor.getDim(), "input 0", first, error);
  if (failed(dim))
    return failure();
  SmallVector<int64_t> shape(shapeOf(first));
  for (auto [index, input] : llvm::enumerate(adaptor.getInputs().drop_front())) {
    RankedTensorType type = tensorType(input);
    SmallVector<int64_t> expected(shape);
    if (type.getRank() == int64_t(shape.size()))
      expected[*dim] = type.getDimSize(*dim);
    if (type != typeLike(first, expected))
      return error() << "input " << index + 1 << ", " << type << ", and input 0, " << first.getType()
                     << ", may only differ in the size of dimension " << *dim;
    shape[*dim] += type.getDimSize(*dim);
  }
  return single(first, shape);
}

KernelClass ReshapeOp::getKernelClass() { return KernelClass::Alias; }
