#include "lib/Codegen/Kernels/AttentionShape.h"

#include "dialects/NN/Builders.h"
#include "lib/Support/StoredElement.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

HeadRows HeadRows::from(Emitter &emit, Value first) const {
  return {base, element, emit.add(offset, emit.mul(first, stride)), stride, width};
}

static HeadRows headRows(Emitter &emit, Value base, Type element, Value batch, Value head, int64_t positions,
                         int64_t heads, int64_t width) {
  Value offset = emit.add(emit.mul(batch, positions * heads * width), emit.mul(head, width));
  return {base, element, offset, heads * width, width};
}

HeadRows AttentionShape::queryRows(Emitter &emit, Value base, Value b, Value head) const {
  return headRows(emit, base, element, b, head, queries, heads, depth);
}
HeadRows AttentionShape::keyRows(Emitter &emit, Value base, Value b, Value keyHead) const {
  return headRows(emit, base, element, b, keyHead, keys, keyHeads, depth);
}
HeadRows AttentionShape::valueRows(Emitter &emit, Value base, Value b, Value keyHead) const {
  return headRows(emit, base, element, b, keyHead, keys, keyHeads, valueWidth);
}
HeadRows AttentionShape::outRows(Emitter &emit, Value base, Value b, Value head) const {
  return headRows(emit, base, element, b, head, queries, heads, valueWidth);
}

Value AttentionShape::statistics(Emitter &emit, Value b, Value head) const {
  return emit.mul(emit.add(emit.mul(b, heads), head), queries);
}

// --- Masks ---

/// Sets the masks that attention and its gradient share.
template <typename Op> static void takeMasks(Visibility &visibility, Op op, KernelFunction &function) {
  const AttentionShape shape(op);
  visibility.causal = op.getCausal();
  visibility.shift = shape.keys - shape.queries;
  if (Value segments = op.getSegments()) {
    visibility.segments = function.operand(op.getSegmentsMutable()[0].getOperandNumber());
    visibility.segmentType = getElementTypeOrSelf(segments);
  }
}

Visibility::Visibility(nn::AttentionOp op, KernelFunction &function) {
  takeMasks(*this, op, function);
  if (Value tensor = op.getLimit()) {
    Emitter &emit = function.emit();
    Type type = getElementTypeOrSelf(tensor);
    limit = emit.load({function.operand(op.getLimitMutable()[0].getOperandNumber()), type, emit.i64(0)});
    if (!type.isInteger(64))
      limit = arith::ExtSIOp::create(emit.builder, emit.loc, emit.builder.getI64Type(), limit);
  }
}

Visibility::Visibility(nn::AttentionGradOp op, KernelFunction &function) { takeMasks(*this, op, function); }

Value Visibility::firstQuery(Emitter &emit, Value firstKey, int64_t step) const {
  if (!causal)
    return emit.i64(0);
  Value earliest = emit.max(emit.sub(firstKey, emit.i64(shift)), emit.i64(0));
  return emit.mul(emit.divide(earliest, step), step);
}

// --- The gradient ---

int64_t trainc::codegen::rowSumBytes(nn::AttentionGradOp op) {
  return elementCount(op.getLse()) * elementBytes(getElementTypeOrSelf(op.getLse()));
}

SmallVector<KernelParam> trainc::codegen::rowSumParams(nn::AttentionGradOp op, const KernelSummary &kernels) {
  SmallVector<KernelParam> params{operandParam(op, op.getOutMutable().getOperandNumber()),
                                  operandParam(op, op.getDoutMutable().getOperandNumber())};
  for (OpOperand &dlse : op.getDlseMutable())
    params.push_back(operandParam(op, dlse.getOperandNumber()));
  params.push_back(scratchParam(kernels, 0, plan::Access::write, getElementTypeOrSelf(op.getLse())));
  return params;
}

SmallVector<KernelParam> trainc::codegen::gradientParams(nn::AttentionGradOp op, const KernelSummary &kernels,
                                                         ArrayRef<unsigned> results) {
  SmallVector<KernelParam> params;
  auto read = [&](OpOperand &operand) { params.push_back(operandParam(op, operand.getOperandNumber())); };
  for (OpOperand *operand :
       {&op.getQMutable(), &op.getKMutable(), &op.getVMutable(), &op.getDoutMutable(), &op.getLseMutable()})
    read(*operand);
  params.push_back(scratchParam(kernels, 0, plan::Access::read, getElementTypeOrSelf(op.getLse())));
  for (OpOperand &segments : op.getSegmentsMutable())
    read(segments);
  for (unsigned result : results)
    params.push_back(resultParam(op, result));
  return params;
}

void trainc::codegen::storeRowSum(nn::AttentionGradOp op, KernelFunction &function, Value row, Value sum) {
  Emitter &emit = function.emit();
  const AttentionShape shape(op);
  Value head = emit.remainder(row, shape.heads), position = emit.divide(row, shape.heads);
  Value to = emit.add(shape.statistics(emit, emit.divide(position, shape.queries), head),
                      emit.remainder(position, shape.queries));
  Type element = nn::wideElement(shape.element);
  if (op.getDlse()) {
    Value dlse = function.operand(op.getDlseMutable()[0].getOperandNumber());
    sum = emit.sub(sum, emit.load({dlse, element, to}));
  }
  emit.store(sum, {function.scratch(0), element, to});
}
