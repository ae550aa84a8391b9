#include "test/emulator/libcublaslt/product.h"

#include "test/emulator/libcublaslt/epilogue.h"
#include "test/emulator/libcublaslt/tiles.h"

#include <algorithm>

namespace trainc::emulator {

namespace {

/// Packs a matrix, whose rows are the lines, into panels.
template <typename T> void pack(const Matrix &matrix, size_t lines, Panels &panels, bool isTf32) {
  const auto put = [&](size_t line, size_t step) {
    const float value = loadAs<T>(matrix.at(line, step));
    panels.at(line, step) = isTf32 ? nearestTf32(value) : value;
  };
  if (matrix.rowStride <= matrix.columnStride)
    for (size_t step = 0; step < panels.depth(); ++step)
      for (size_t line = 0; line < lines; ++line)
        put(line, step);
  else
    for (size_t line = 0; line < lines; ++line)
      for (size_t step = 0; step < panels.depth(); ++step)
        put(line, step);
}

Panels packed(const Matrix &matrix, size_t width, size_t lines, size_t depth, bool isTf32) {
  Panels panels(width, lines, depth);
  if (matrix.type == CUDA_R_32F)
    pack<float>(matrix, lines, panels, isTf32);
  else if (matrix.type == CUDA_R_16BF)
    pack<BFloat16>(matrix, lines, panels, false);
  else if (matrix.type == CUDA_R_8F_E4M3)
    pack<Float8E4M3>(matrix, lines, panels, false);
  else if (matrix.type == CUDA_R_8F_E5M2)
    pack<Float8E5M2>(matrix, lines, panels, false);
  else
    pack<Float16>(matrix, lines, panels, false);
  return panels;
}

struct Scales {
  float alpha, beta;
};

/// Computes one product of a batch.
void multiplyBatch(const Problem &problem, const Matrix &opA, const Matrix &opB, const Matrix &c,
                   const Matrix &d, Scales scales, Epilogue &epilogue) {
  const size_t rows = problem.rows(), columns = problem.columns(), depth = problem.depth();
  const bool isTf32 = problem.operation.compute == CUBLAS_COMPUTE_32F_FAST_TF32;
  const Panels a = packed(opA, kTileRows, rows, depth, isTf32);
  const Panels b = packed(opB.transposed(), kTileColumns, columns, depth, isTf32);
  Tile sums;
  for (size_t column = 0; column < columns; column += kTileColumns)
    for (size_t row = 0; row < rows; row += kTileRows) {
      multiplyTile(a.panel(row / kTileRows), b.panel(column / kTileColumns), depth, sums);
      for (size_t j = column; j < std::min(column + kTileColumns, columns); ++j)
        for (size_t i = row; i < std::min(row + kTileRows, rows); ++i) {
          float value = scales.alpha * sums[j - column][i - row];
          if (scales.beta != 0)
            value += scales.beta * c(i, j);
          d.set(i, j, epilogue.apply(i, j, value));
        }
    }
  epilogue.end(opA, opB, depth);
}

} // namespace

namespace {

/// Reads a scale from device memory; 1 if there is none.
std::optional<std::string> readScale(const char *name, uint64_t address, float &scale) {
  scale = 1;
  if (address == 0)
    return std::nullopt;
  const Matrices matrix(name, address, vectorLayout(CUDA_R_32F, 1, 1, 0));
  if (auto why = matrix.whyUnreadable())
    return why;
  scale = matrix.batch(0)(0, 0);
  return std::nullopt;
}

} // namespace

std::optional<std::string> multiply(const Problem &problem, const Addresses &addresses, float alpha,
                                    float beta) {
  const Matrices a("A", addresses.a, problem.a), b("B", addresses.b, problem.b),
      c("C", addresses.c, problem.c), d("D", addresses.d, problem.d);
  Epilogue epilogue(problem);
  float scaleA = 1, scaleB = 1;
  for (auto why :
       {readScale("scale of A", problem.operation.scaleA, scaleA),
        readScale("scale of B", problem.operation.scaleB, scaleB), a.whyUnreadable(), b.whyUnreadable(),
        beta != 0 ? c.whyUnreadable() : std::nullopt, d.whyUnwritable(), epilogue.whyNot()})
    if (why)
      return why;
  for (size_t batch = 0; batch < static_cast<size_t>(problem.d.batches); ++batch) {
    const Matrix left = a.batch(batch), right = b.batch(batch);
    epilogue.begin(batch);
    multiplyBatch(problem, problem.operation.transposeA == CUBLAS_OP_N ? left : left.transposed(),
                  problem.operation.transposeB == CUBLAS_OP_N ? right : right.transposed(), c.batch(batch),
                  d.batch(batch), {alpha * scaleA * scaleB, beta}, epilogue);
  }
  d.noteWritten();
  epilogue.noteWritten();
  return std::nullopt;
}

} // namespace trainc::emulator
