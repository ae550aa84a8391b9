// Fused kernels and loops over chunks: their regions, run on whole tensors. Barriers.
#include "dialects/NN/NN.h"
#include "lib/Reference/Registry.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::reference;

namespace {

FailureOr<Tensors> kernel(nn::KernelOp op, Frame &frame) {
  Tensors inputs;
  for (Value input : op.getInputs())
    inputs.push_back(frame[input]);
  return runBlock(op.getBody().front(), std::move(inputs), frame.memory());
}

/// Moves chunk number `chunk` along `dim` between a whole tensor and its slice.
void moveChunk(Tensor &whole, Tensor &part, int64_t dim, int64_t chunk, bool intoWhole) {
  SmallVector<int64_t> strides = stridesOf(whole.shape());
  int64_t offset = chunk * part.dim(dim) * strides[dim];
  forEachIndex(part.shape(), [&](int64_t i, ArrayRef<int64_t> index) {
    int64_t position = offset;
    for (int64_t d = 0; d < part.rank(); ++d)
      position += index[d] * strides[d];
    if (intoWhole)
      whole.copyElement(position, part, i);
    else
      part.copyElement(i, whole, position);
  });
}

constexpr int64_t kCarried = nn::ChunksOp::kCarried;

/// Carries what an iteration yielded into the next one's inputs, which are in the same order.
void carry(nn::ChunksOp op, const Tensors &yielded, Tensors &inputs) {
  auto carriedInput = llvm::find(op.getInputDims(), kCarried);
  for (auto [result, dim] : llvm::enumerate(op.getResultDims())) {
    if (dim != kCarried)
      continue;
    inputs[carriedInput - op.getInputDims().begin()] = yielded[result];
    carriedInput = std::find(carriedInput + 1, op.getInputDims().end(), kCarried);
  }
}

FailureOr<Tensors> chunks(nn::ChunksOp op, Frame &frame) {
  Block &body = op.getBody().front();
  Tensors inputs, results;
  for (Value input : op.getInputs())
    inputs.push_back(frame[input]);
  for (Value output : op.getOutputs())
    results.emplace_back(output);
  for (int64_t chunk = 0; chunk < int64_t(op.getCount()); ++chunk) {
    Tensors arguments;
    for (auto [index, dim] : llvm::enumerate(op.getInputDims())) {
      arguments.push_back(dim >= 0 ? Tensor(body.getArgument(index)) : inputs[index]);
      if (dim >= 0)
        moveChunk(inputs[index], arguments.back(), dim, chunk, /*intoWhole=*/false);
    }
    FailureOr<Tensors> yielded = runBlock(body, std::move(arguments), frame.memory());
    if (failed(yielded))
      return failure();
    carry(op, *yielded, inputs);
    for (auto [index, dim] : llvm::enumerate(op.getResultDims()))
      if (dim >= 0)
        moveChunk(results[index], (*yielded)[index], dim, chunk, /*intoWhole=*/true);
      else
        results[index] = (*yielded)[index];
  }
  return results;
}

Tensor barrier(nn::BarrierOp op, Frame &frame) { return frame[op.getX()]; }

} // namespace

void trainc::reference::registerKernel(Registry &registry) {
  registry.add<nn::KernelOp>(kernel);
  registry.add<nn::ChunksOp>(chunks);
  registry.add<nn::BarrierOp>(barrier);
}
