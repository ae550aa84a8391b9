#include "lib/Analysis/InitialValue.h"

#include "dialects/NN/Builders.h"

#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace trainc;

int64_t trainc::randomStreamOf(StringRef name) { return int64_t(llvm::xxh3_64bits(name)); }

static Value buildRandom(OpBuilder &builder, train::StateOp parameter, bool normal) {
  nn::TensorBuilder b(builder, parameter.getLoc());
  Value seed =
      train::GetOp::create(builder, parameter.getLoc(), typeOf(HostScalar::seed, builder.getContext()),
                           stringifyHostScalar(HostScalar::seed));
  Value zero = b.zero(RankedTensorType::get({}, builder.getI64Type()));
  const int64_t stream = randomStreamOf(("init " + parameter.getSymName()).str());
  return b.create<nn::RandomOp>(seed, zero, zero, normal, uint64_t(stream),
                                cast<RankedTensorType>(parameter.getType()));
}

Value trainc::buildInitialValue(OpBuilder &builder, train::StateOp parameter, const Initializer &init) {
  nn::TensorBuilder b(builder, parameter.getLoc());
  if (init.kind == "normal")
    return b.mul(buildRandom(builder, parameter, /*normal=*/true), init.a);
  if (init.kind == "uniform")
    return b.add(b.mul(buildRandom(builder, parameter, /*normal=*/false), init.b - init.a), init.a);
  return b.constant(init.kind == "ones"       ? 1
                    : init.kind == "constant" ? init.a
                                              : 0,
                    cast<RankedTensorType>(parameter.getType()));
}
