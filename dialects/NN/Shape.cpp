// Shapes: valid sizes of tensors, and helpers of ops that reduce, repeat or move elements.
#include "dialects/NN/Shape.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

using Inferred = FailureOr<SmallVector<Type>>;

FailureOr<int64_t> nn::checkDim(int64_t dim, StringRef name, Value x, InferError error) {
  int64_t rank = tensorType(x).getRank();
  int64_t positive = normalizeDim(dim, rank);
  if (positive < 0 || positive >= rank)
    return error() << "dimension " << dim << " is not one of the " << rank << " dimensions of " << name
                   << ", " << x.getType();
  return positive;
}

Inferred nn::single(Value like, ArrayRef<int64_t> shape) { return SmallVector<Type>{typeLike(like, shape)}; }

SmallVector<int64_t> nn::stridesOf(Value value) {
  ArrayRef<int64_t> shape = shapeOf(value);
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * shape[dim];
  return strides;
}

OpFoldResult nn::foldMove(Attribute constant, Value result) {
  if (isa<DeferredType>(result.getType()))
    return {};
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(constant))
    return splat.resizeSplat(tensorType(result));
  return {};
}

OpFoldResult nn::foldSameType(Value x, Attribute constant, Value result) {
  if (!isa<DeferredType>(x.getType()) && x.getType() == result.getType())
    return x;
  return foldMove(constant, result);
}

SmallVector<int> nn::labelsOf(Value value) {
  return llvm::to_vector(llvm::seq<int>(0, shapeOf(value).size()));
}

LogicalResult nn::checkSizes(ArrayRef<int64_t> shape, InferError error) {
  constexpr int64_t kMaxElements = int64_t(1) << 44;
  const int64_t longest =
      shape.size() == 1 ? kMaxElements : INT32_MAX; // flat tensors of gathered parameters are long
  int64_t elements = 1;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (size < 1 || size > longest) {
      InFlightDiagnostic diagnostic = error() << "dimension " << dim << " of [";
      llvm::interleaveComma(shape, diagnostic, [&](int64_t s) {
        ShapedType::isDynamic(s) ? diagnostic << "?" : diagnostic << s;
      });
      return diagnostic << "] must be a size between 1 and " << longest;
    }
    if (elements > kMaxElements / size)
      return error() << "a tensor of [" << shape << "] has more than " << kMaxElements << " elements";
    elements *= size;
  }
  return success();
}
