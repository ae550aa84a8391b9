// Which sizes tensors may have.
#include "dialects/NN/NN.h"

using namespace mlir;
using namespace trainc;

LogicalResult nn::checkSizes(ArrayRef<int64_t> shape, InferError error) {
  constexpr int64_t kMaxElements = int64_t(1) << 44;
  int64_t elements = 1;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (size < 1 || size > INT32_MAX) {
      InFlightDiagnostic diagnostic = error() << "dimension " << dim << " of [";
      llvm::interleaveComma(shape, diagnostic, [&](int64_t s) {
        ShapedType::isDynamic(s) ? diagnostic << "?" : diagnostic << s;
      });
      return diagnostic << "] must be a size between 1 and " << INT32_MAX;
    }
    if (elements > kMaxElements / size)
      return error() << "a tensor of [" << shape << "] has more than " << kMaxElements << " elements";
    elements *= size;
  }
  return success();
}
