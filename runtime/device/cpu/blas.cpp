#include "runtime/device/cpu/blas.h"

#include <algorithm>
#include <cblas.h>

namespace trainc {

void gemmTile(const GemmCall &call, int64_t batch, int64_t row, int64_t column) {
  const int64_t m = std::min(call.tileM, call.m - row), n = std::min(call.tileN, call.n - column);
  const float *a = call.a + batch * call.strideA + (call.transposeA ? row : row * call.lda);
  const float *b = call.b + batch * call.strideB + (call.transposeB ? column * call.ldb : column);
  float *c = call.c + batch * call.strideC + row * call.ldc + column;
  const auto transpose = [](bool yes) { return yes ? CblasTrans : CblasNoTrans; };
  cblas_sgemm(CblasRowMajor, transpose(call.transposeA), transpose(call.transposeB), static_cast<blasint>(m),
              static_cast<blasint>(n), static_cast<blasint>(call.k), 1.0f, a, static_cast<blasint>(call.lda),
              b, static_cast<blasint>(call.ldb), call.beta, c, static_cast<blasint>(call.ldc));
}

std::string blasDescription() {
  const std::string config = openblas_get_config(); // "OpenBLAS 0.3.21 NO_AFFINITY USE_LOCKING SkylakeX ..."
  const size_t name = config.find(' ');
  return config.substr(0, config.find(' ', name + 1)) + " " + openblas_get_corename();
}

} // namespace trainc
