// Library calls.
#include "lib/Plan/PlanTables.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace trainc {

static std::unique_ptr<fb::Operand> writeIfAny(std::optional<plan::OperandAttr> operand, PlanTables &tables) {
  return operand ? std::make_unique<fb::Operand>(writeOperand(*operand, tables)) : nullptr;
}

static fb::MatrixProductT writeProduct(plan::MatrixProductOp op, PlanTables &tables) {
  fb::MatrixProductT table;
  table.a = writeIfAny(op.getA(), tables);
  table.b = writeIfAny(op.getB(), tables);
  table.result = writeIfAny(op.getResult(), tables);
  table.bias = writeIfAny(op.getBias(), tables);
  table.auxiliary = writeIfAny(op.getAuxiliary(), tables);
  table.side = writeIfAny(op.getSide(), tables);
  table.a_scale = writeIfAny(op.getAScale(), tables);
  table.b_scale = writeIfAny(op.getBScale(), tables);
  table.workspace = writeIfAny(op.getWorkspace(), tables);
  table.workspace_bytes = op.getWorkspaceBytes();
  table.batch = op.getBatch();
  table.m = op.getM();
  table.n = op.getN();
  table.k = op.getK();
  table.row_a = op.getRowA();
  table.row_b = op.getRowB();
  table.row_result = op.getRowResult();
  table.matrix_a = op.getMatrixA();
  table.matrix_b = op.getMatrixB();
  table.matrix_result = op.getMatrixResult();
  table.transpose_a = op.getTransposeA();
  table.transpose_b = op.getTransposeB();
  table.adds = op.getAdds();
  table.activation = inSchema(op.getActivation());
  table.side_sum = inSchema(op.getSideSum());
  table.factors = inSchema(op.getFactors().value_or(Float32Type::get(op.getContext())));
  if (op.getFactorsB())
    table.factors_b = inSchema(*op.getFactorsB());
  table.product = inSchema(op.getProduct().value_or(Float32Type::get(op.getContext())));
  table.tf32 = op.getTf32();
  return table;
}

static fb::AttentionT writeAttention(plan::AttentionOp op, PlanTables &tables) {
  fb::AttentionT table;
  table.pass = inSchema(op.getPass());
  table.query = writeIfAny(op.getQuery(), tables);
  table.key = writeIfAny(op.getKey(), tables);
  table.value = writeIfAny(op.getValue(), tables);
  table.out = writeIfAny(op.getOut(), tables);
  table.log_sum_exp = writeIfAny(op.getLogSumExp(), tables);
  table.segments = writeIfAny(op.getSegments(), tables);
  table.limit = writeIfAny(op.getLimit(), tables);
  table.out_gradient = writeIfAny(op.getOutGradient(), tables);
  table.query_gradient = writeIfAny(op.getQueryGradient(), tables);
  table.key_gradient = writeIfAny(op.getKeyGradient(), tables);
  table.value_gradient = writeIfAny(op.getValueGradient(), tables);
  table.workspace = writeIfAny(op.getWorkspace(), tables);
  table.workspace_bytes = op.getWorkspaceBytes();
  table.batch = op.getBatch();
  table.queries = op.getQueries();
  table.keys = op.getKeys();
  table.heads = op.getHeads();
  table.key_heads = op.getKeyHeads();
  table.head_size = op.getHeadSize();
  table.value_size = op.getValueSize();
  table.causal = op.getCausal();
  table.scale = static_cast<float>(op.getScale().convertToDouble());
  table.values = inSchema(op.getValues().value_or(Float32Type::get(op.getContext())));
  return table;
}

void writeLibraryCall(Operation *call, PlanTables &tables, fb::OperationUnion &operation) {
  llvm::TypeSwitch<Operation *>(call)
      .Case([&](plan::MatrixProductOp op) { operation.Set(writeProduct(op, tables)); })
      .Case([&](plan::AttentionOp op) { operation.Set(writeAttention(op, tables)); });
}

} // namespace trainc
