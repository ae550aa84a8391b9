#include "runtime/device/cpu/blas.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>

namespace trainc {

namespace {

// Values of the CBLAS interface.
constexpr int kRowMajor = 101, kNoTranspose = 111, kTranspose = 112;

/// What openblas_get_parallel() says of a build on POSIX threads.
constexpr int kPthreads = 1;
constexpr const char *kAdvice = "install libopenblas0-pthread";

void *openLibrary() {
  if (__builtin_cpu_is("amd"))
    setenv("OPENBLAS_CORETYPE", "Haswell", /*overwrite=*/0);
  setenv("OPENBLAS_NUM_THREADS", "1", /*overwrite=*/1); // it would start threads of its own as it is loaded
  for (const char *name : {TRAINC_OPENBLAS, "libopenblas.so.0"})
    if (void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL))
      return library;
  return nullptr;
}

/// Whether several threads may call the library at once. Builds without threads and on OpenMP hand out work
/// buffers without a lock, so that two callers may get the same one.
bool isThreadSafe(void *library) {
  const auto parallel = reinterpret_cast<int (*)()>(dlsym(library, "openblas_get_parallel"));
  return parallel && parallel() == kPthreads;
}

std::string describe(void *library) {
  using Text = const char *(*)();
  const auto config = reinterpret_cast<Text>(dlsym(library, "openblas_get_config"));
  const auto core = reinterpret_cast<Text>(dlsym(library, "openblas_get_corename"));
  if (!config || !core)
    return "unknown BLAS";
  const std::string text = config(); // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..."
  return text.substr(0, text.find(' ', text.find(' ') + 1)) + " " + core();
}

} // namespace

Result<Blas> Blas::open() {
  void *library = openLibrary();
  if (!library)
    return failed("cannot load OpenBLAS: {}; {}", dlerror(), kAdvice);
  if (!isThreadSafe(library))
    return failed("this OpenBLAS is not the build on POSIX threads, others cannot be called by several "
                  "threads at once; {}",
                  kAdvice);
  Blas blas;
  blas.sgemm_ = reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm"));
  if (!blas.sgemm_)
    return failed("OpenBLAS has no cblas_sgemm; {}", kAdvice);
  blas.description_ = describe(library);
  return blas;
}

Result<const Blas *> Blas::load() {
  static const Result<Blas> blas = open();
  if (!blas.ok())
    return blas.status();
  return &*blas;
}

void Blas::gemmTile(const GemmCall &call, int64_t batch, int64_t row, int64_t column) const {
  const int64_t m = std::min(call.tileM, call.m - row), n = std::min(call.tileN, call.n - column);
  const float *a = call.a + batch * call.strideA + (call.transposeA ? row : row * call.lda);
  const float *b = call.b + batch * call.strideB + (call.transposeB ? column * call.ldb : column);
  float *c = call.c + batch * call.strideC + row * call.ldc + column;
  const auto i32 = [](int64_t value) { return static_cast<int>(value); };
  sgemm_(kRowMajor, call.transposeA ? kTranspose : kNoTranspose, call.transposeB ? kTranspose : kNoTranspose,
         i32(m), i32(n), i32(call.k), 1.0f, a, i32(call.lda), b, i32(call.ldb), call.beta, c, i32(call.ldc));
}

} // namespace trainc
