#include "plan/facts/library_calls.h"

#include "plan/cost/work.h"
#include "plan/facts/dtype.h"
#include "plan/schema/row_padding.h"

#include <algorithm>

namespace trainc {

namespace {

using Instructions = flatbuffers::Vector<flatbuffers::Offset<fb::Instruction>>;

/// Matrices of `rows` x `columns` with the given strides.
StridedBytes matrices(uint64_t rows, uint64_t columns, uint64_t row, uint64_t count, uint64_t matrix,
                      uint64_t element) {
  return {.rowBytes = columns * element,
          .rows = rows,
          .rowStride = row * element,
          .matrices = matrix == 0 ? 1 : count,
          .matrixStride = matrix * element};
}

LibraryOperand workspace(const fb::Operand *operand, uint64_t bytes) {
  return {"workspace", operand, false, true, fb::DType::U8, true, {.rowBytes = bytes}};
}

std::vector<LibraryOperand> operandsOf(const fb::MatrixProduct &call) {
  const uint64_t element = elementBytes(call.product());
  const auto factorBytes = [&](fb::DType dtype, bool transposed, uint64_t rows, uint64_t columns,
                               uint64_t row, uint64_t matrix) {
    return matrices(transposed ? columns : rows, transposed ? rows : columns, row, call.batch(), matrix,
                    elementBytes(dtype));
  };
  const auto read = [](const char *name, const fb::Operand *operand, fb::DType dtype, StridedBytes bytes) {
    return LibraryOperand{name, operand, true, false, dtype, false, bytes};
  };
  const StridedBytes result =
      matrices(call.m(), call.n(), call.row_result(), call.batch(), call.matrix_result(), element);
  const bool isGradient = call.activation() == fb::Activation::GeluGradient ||
                          call.activation() == fb::Activation::GeluTanhGradient;
  const uint64_t sums = call.side_sum() == fb::SideSum::A ? call.m() : call.n();
  const fb::DType ofA = call.factors(), ofB = factorsOfB(call);
  return {read("a", call.a(), ofA,
               factorBytes(ofA, call.transpose_a(), call.m(), call.k(), call.row_a(), call.matrix_a())),
          read("b", call.b(), ofB,
               factorBytes(ofB, call.transpose_b(), call.k(), call.n(), call.row_b(), call.matrix_b())),
          {"result", call.result(), call.adds(), true, call.product(), false, result},
          read("bias", call.bias(), call.product(), {.rowBytes = call.n() * element}),
          {"auxiliary", call.auxiliary(), isGradient, !isGradient, call.product(), false, result},
          {"side", call.side(), false, true, call.product(), false, {.rowBytes = sums * element}},
          read("a_scale", call.a_scale(), fb::DType::F32, {.rowBytes = sizeof(float)}),
          read("b_scale", call.b_scale(), fb::DType::F32, {.rowBytes = sizeof(float)}),
          workspace(call.workspace(), call.workspace_bytes())};
}

std::vector<LibraryOperand> operandsOf(const fb::Attention &call) {
  const bool backward = call.pass() == fb::AttentionPass::Backward;
  const uint64_t element = elementBytes(call.values());
  const StridedBytes query{.rowBytes =
                               call.batch() * call.queries() * call.heads() * call.head_size() * element},
      key{.rowBytes = call.batch() * call.keys() * call.key_heads() * call.head_size() * element},
      value{.rowBytes = call.batch() * call.keys() * call.key_heads() * call.value_size() * element},
      out{.rowBytes = call.batch() * call.queries() * call.heads() * call.value_size() * element},
      logSumExp{.rowBytes = call.batch() * call.heads() * call.queries() * sizeof(float)};
  const auto tensor = [&](const char *name, const fb::Operand *operand, bool writes, StridedBytes bytes) {
    return LibraryOperand{name, operand, !writes, writes, call.values(), false, bytes};
  };
  const auto integers = [&](const char *name, const fb::Operand *operand, uint64_t count) {
    return LibraryOperand{
        name, operand, true, false, fb::DType::I32, false, {.rowBytes = count * sizeof(int32_t)}};
  };
  return {tensor("query", call.query(), false, query),
          tensor("key", call.key(), false, key),
          tensor("value", call.value(), false, value),
          tensor("out", call.out(), !backward, out),
          {"log_sum_exp", call.log_sum_exp(), backward, !backward, fb::DType::F32, false, logSumExp},
          integers("segments", call.segments(), call.batch() * call.queries()),
          integers("limit", call.limit(), 1),
          tensor("out_gradient", call.out_gradient(), false, out),
          tensor("query_gradient", call.query_gradient(), true, query),
          tensor("key_gradient", call.key_gradient(), true, key),
          tensor("value_gradient", call.value_gradient(), true, value),
          workspace(call.workspace(), call.workspace_bytes())};
}

using Predicate = bool (*)(const fb::Instruction &);

bool anyOf(const Instructions &instructions, Predicate predicate) {
  return std::ranges::any_of(instructions, [&](const fb::Instruction *each) {
    const fb::Loop *loop = each->operation_as_Loop();
    return loop ? anyOf(*loop->body(), predicate) : predicate(*each);
  });
}

bool anyOf(const fb::Plan &plan, Predicate predicate) {
  return std::ranges::any_of(
      *plan.entries(), [&](const fb::Entry *entry) { return anyOf(*entry->instructions(), predicate); });
}

} // namespace

StridedBytes StridedBytes::padded() const {
  StridedBytes runs = *this;
  runs.rowBytes = paddedRowBytes(rowBytes, rowStride);
  return runs;
}

StridedBytes StridedBytes::joined() const {
  StridedBytes runs = *this;
  if (runs.rows == 1 || runs.rowStride == runs.rowBytes)
    runs = {.rowBytes = rows * rowBytes, .matrices = matrices, .matrixStride = matrixStride};
  if (runs.rows == 1 && (runs.matrices == 1 || runs.matrixStride == runs.rowBytes))
    runs = {.rowBytes = runs.matrices * runs.rowBytes};
  return runs;
}

bool isLibraryCall(const fb::Instruction &instruction) {
  return instruction.operation_type() == fb::Operation::MatrixProduct ||
         instruction.operation_type() == fb::Operation::Attention;
}

std::vector<LibraryOperand> libraryOperands(const fb::Instruction &instruction) {
  if (const fb::MatrixProduct *product = instruction.operation_as_MatrixProduct())
    return operandsOf(*product);
  if (const fb::Attention *attention = instruction.operation_as_Attention())
    return operandsOf(*attention);
  return {};
}

fb::DType factorsOfB(const fb::MatrixProduct &product) {
  return product.factors_b().value_or(product.factors());
}

bool multipliesF8(const fb::Plan &plan) {
  return anyOf(plan, [](const fb::Instruction &each) {
    const fb::MatrixProduct *product = each.operation_as_MatrixProduct();
    return product && (isF8(product->factors()) || isF8(factorsOfB(*product)));
  });
}

bool hasLibraryGradient(const fb::Plan &plan) {
  return anyOf(plan, [](const fb::Instruction &each) {
    const fb::Attention *attention = each.operation_as_Attention();
    return attention && attention->pass() == fb::AttentionPass::Backward;
  });
}

const char *libraryCallName(const fb::Instruction &instruction) {
  const fb::Attention *attention = instruction.operation_as_Attention();
  return !attention                                         ? "matrix product"
         : attention->pass() == fb::AttentionPass::Backward ? "gradient of attention"
                                                            : "attention";
}

double libraryFlops(const fb::Instruction &instruction) {
  if (const fb::MatrixProduct *product = instruction.operation_as_MatrixProduct())
    return 2.0 * double(product->batch()) * double(product->m()) * double(product->n()) *
           double(product->k());
  const fb::Attention &call = *instruction.operation_as_Attention();
  const bool backward = call.pass() == fb::AttentionPass::Backward;
  const double pairs = visiblePairs(double(call.queries()), double(call.keys()), call.causal());
  return attentionFlops(double(call.batch() * call.heads()) * pairs, double(call.head_size()),
                        double(call.value_size()), backward ? kAttentionGradProducts : kAttentionProducts);
}

} // namespace trainc
