#include "test/unit/plan/plans/library_bytes.h"

#include <memory>

namespace trainc::test {

namespace {

using Uses = std::vector<LibraryUse>;

void add(Uses &uses, const std::unique_ptr<fb::Operand> &operand, bool reads, bool writes, uint64_t bytes,
         std::vector<uint64_t> begins = {0}) {
  if (operand)
    uses.push_back({operand.get(), reads, writes, bytes, std::move(begins)});
}

/// A run for each row of each matrix.
std::vector<uint64_t> rowBegins(uint64_t rows, uint64_t row, uint64_t count, uint64_t matrix) {
  std::vector<uint64_t> begins;
  for (uint64_t i = 0; i < count; ++i)
    for (uint64_t r = 0; r < rows; ++r)
      begins.push_back((i * matrix + r * row) * sizeof(float));
  return begins;
}

/// Bytes of a row, including padding.
uint64_t rowBytes(uint64_t columns, uint64_t row) {
  return (row > columns && (row - columns) * sizeof(float) < 16 ? row : columns) * sizeof(float);
}

Uses usesOf(const fb::MatrixProductT &p) {
  Uses uses;
  const bool backward =
      p.activation == fb::Activation::GeluGradient || p.activation == fb::Activation::GeluTanhGradient;
  const auto result = rowBegins(p.m, p.row_result, p.batch, p.matrix_result);
  add(uses, p.a, true, false, rowBytes(p.transpose_a ? p.m : p.k, p.row_a),
      rowBegins(p.transpose_a ? p.k : p.m, p.row_a, p.batch, p.matrix_a));
  add(uses, p.b, true, false, rowBytes(p.transpose_b ? p.k : p.n, p.row_b),
      rowBegins(p.transpose_b ? p.n : p.k, p.row_b, p.batch, p.matrix_b));
  add(uses, p.bias, true, false, p.n * 4);
  add(uses, p.auxiliary, backward, !backward, rowBytes(p.n, p.row_result), result);
  add(uses, p.result, p.adds, true, rowBytes(p.n, p.row_result), result);
  add(uses, p.side, false, true, (p.side_sum == fb::SideSum::A ? p.m : p.n) * 4);
  add(uses, p.workspace, false, true, p.workspace_bytes);
  return uses;
}

Uses usesOf(const fb::AttentionT &a) {
  Uses uses;
  const bool backward = a.pass == fb::AttentionPass::Backward;
  const uint64_t query = a.batch * a.queries * a.heads * a.head_size * 4,
                 key = a.batch * a.keys * a.key_heads * a.head_size * 4,
                 value = a.batch * a.keys * a.key_heads * a.value_size * 4,
                 out = a.batch * a.queries * a.heads * a.value_size * 4;
  add(uses, a.query, true, false, query);
  add(uses, a.key, true, false, key);
  add(uses, a.value, true, false, value);
  add(uses, a.segments, true, false, a.batch * a.queries * 4);
  add(uses, a.limit, true, false, 4);
  add(uses, a.out, backward, !backward, out);
  add(uses, a.log_sum_exp, backward, !backward, a.batch * a.heads * a.queries * 4);
  add(uses, a.out_gradient, true, false, out);
  add(uses, a.query_gradient, false, true, query);
  add(uses, a.key_gradient, false, true, key);
  add(uses, a.value_gradient, false, true, value);
  add(uses, a.workspace, false, true, a.workspace_bytes);
  return uses;
}

} // namespace

std::vector<LibraryUse> libraryUses(const fb::InstructionT &instruction) {
  if (const fb::MatrixProductT *product = instruction.operation.AsMatrixProduct())
    return usesOf(*product);
  if (const fb::AttentionT *attention = instruction.operation.AsAttention())
    return usesOf(*attention);
  return {};
}

} // namespace trainc::test
