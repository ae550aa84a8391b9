// nn.gather, nn.scatter and nn.scatter_add: rows of a table by index.
#include "dialects/NN/Builders.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

using Inferred = FailureOr<SmallVector<Type>>;

static LogicalResult checkTable(Value table, Value ids, InferError error) {
  if (tensorType(table).getRank() != 2)
    return error() << "operand table must have two dimensions, rows and columns, found " << table.getType();
  Type element = tensorType(ids).getElementType();
  if (!element.isInteger(32) && !element.isInteger(64))
    return error() << "operand ids must have i32 or i64 elements, found " << ids.getType();
  return success();
}

/// Returns the type of one table row per id.
static RankedTensorType rowsType(Value table, Value ids) {
  SmallVector<int64_t> shape(shapeOf(ids));
  shape.push_back(shapeOf(table)[1]);
  return typeLike(table, shape);
}

Inferred GatherOp::inferTypes(Adaptor adaptor, InferError error) {
  if (failed(checkTable(adaptor.getTable(), adaptor.getIds(), error)))
    return failure();
  return SmallVector<Type>{rowsType(adaptor.getTable(), adaptor.getIds())};
}

/// Reports an error unless `updates` has the type `expected` of one table row per id.
static LogicalResult checkUpdates(Value table, Value ids, Value updates, Type expected, InferError error) {
  if (updates.getType() == expected)
    return success();
  return error() << "operand updates must hold one row of table, " << table.getType()
                 << ", per element of ids, " << ids.getType() << ": expected " << expected << ", found "
                 << updates.getType();
}

Inferred ScatterAddOp::inferTypes(Adaptor adaptor, InferError error) {
  Value table = adaptor.getTable(), ids = adaptor.getIds(), updates = adaptor.getUpdates();
  if (failed(checkTable(table, ids, error)))
    return failure();
  RankedTensorType expected = rowsType(table, ids);
  const Type element = tensorType(updates).getElementType();
  if (expected.getElementType().isF32() && isLowPrecision(element))
    expected = expected.clone(element);
  if (failed(checkUpdates(table, ids, updates, expected, error)))
    return failure();
  return SmallVector<Type>{table.getType()};
}

Inferred ScatterOp::inferTypes(Adaptor adaptor, InferError error) {
  Value table = adaptor.getTable(), ids = adaptor.getIds(), updates = adaptor.getUpdates();
  if (failed(checkTable(table, ids, error)) ||
      failed(checkUpdates(table, ids, updates, rowsType(table, ids), error)))
    return failure();
  return SmallVector<Type>{table.getType()};
}

IndexingRule GatherOp::getIndexingRule() {
  auto ids = llvm::to_vector(llvm::seq<int>(0, shapeOf(getIds()).size()));
  int column = ids.size();
  SmallVector<int> result = ids;
  result.push_back(column);
  return {{{-1, column}, ids}, {result}};
}

/// Ids can be partitioned, giving partial sums, only if the table is zero.
IndexingRule ScatterAddOp::getIndexingRule() {
  auto ids = llvm::to_vector(llvm::seq<int>(0, shapeOf(getIds()).size()));
  int column = ids.size();
  if (constantValue(getTable()) != 0.0)
    llvm::fill(ids, -1);
  SmallVector<int> updates = ids;
  updates.push_back(column);
  return {{{-1, column}, ids, updates}, {{-1, column}}};
}

IndexingRule ScatterOp::getIndexingRule() {
  SmallVector<int> ids(shapeOf(getIds()).size(), -1), updates = ids;
  updates.push_back(0);
  return {{{-1, 0}, ids, updates}, {{-1, 0}}};
}

std::optional<IndexLimit> GatherOp::getIndexLimit(unsigned operand) {
  if (operand != getIdsMutable().getOperandNumber())
    return std::nullopt;
  return IndexLimit{shapeOf(getTable()).front()};
}

void GatherOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, MutableArrayRef<Value> out) {
  TensorBuilder build(builder, getLoc());
  RankedTensorType table = tensorType(getTable());
  // Sums are f32: in bf16 or f16, updates of a row that is read often would be rounded away.
  Type sum = wideElement(table.getElementType());
  Value rows = build.create<ScatterAddOp>(build.zero(table.clone(sum)), getIds(), g[0]).getResult();
  out[0] = build.convert(rows, table.getElementType());
}

KernelClass ScatterOp::getKernelClass() { return KernelClass::RowCopy; }
int ScatterOp::getInPlaceOperand(unsigned) { return 0; }

KernelClass ScatterAddOp::getKernelClass() { return KernelClass::Scatter; }
int ScatterAddOp::getInPlaceOperand(unsigned) { return 0; }

int64_t ScatterAddOp::touchedElements() {
  return std::min(tensorType(getTable()).getNumElements(), tensorType(getUpdates()).getNumElements());
}

Value ScatterAddOp::getAddend(unsigned) { return getTable(); }
void ScatterAddOp::setAddend(unsigned, Value addend) { getTableMutable().assign(addend); }
