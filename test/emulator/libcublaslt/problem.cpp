#include "test/emulator/libcublaslt/problem.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <functional>
#include <iterator>

namespace trainc::emulator {

namespace {

template <typename... Args> Refusal invalid(fmt::format_string<Args...> format, Args &&...args) {
  return {CUBLAS_STATUS_INVALID_VALUE, fmt::format(format, std::forward<Args>(args)...)};
}

template <typename... Args> Refusal unsupported(fmt::format_string<Args...> format, Args &&...args) {
  return {CUBLAS_STATUS_NOT_SUPPORTED, fmt::format(format, std::forward<Args>(args)...)};
}

std::optional<Refusal> checkLayout(char name, const Layout &layout) {
  if (bytesOf(layout.type) == 0)
    return unsupported("{} is of type {}, which is not emulated", name, static_cast<int>(layout.type));
  if (layout.order != CUBLASLT_ORDER_COL && layout.order != CUBLASLT_ORDER_ROW)
    return unsupported("{} has order {}, neither by columns nor by rows", name,
                       static_cast<int>(layout.order));
  if (layout.rows == 0 || layout.columns == 0 || layout.batches < 1)
    return invalid("{} has {} batches of {} x {} elements", name, layout.batches, layout.rows,
                   layout.columns);
  const uint64_t minimum = layout.order == CUBLASLT_ORDER_COL ? layout.rows : layout.columns;
  if (layout.ld < 0 || static_cast<uint64_t>(layout.ld) < minimum)
    return invalid("{} has leading dimension {}, expected at least {}", name, layout.ld, minimum);
  return std::nullopt;
}

std::optional<Refusal> checkShapes(const Problem &problem) {
  const auto isTransposed = [](cublasOperation_t operation) { return operation != CUBLAS_OP_N; };
  const bool ta = isTransposed(problem.operation.transposeA), tb = isTransposed(problem.operation.transposeB);
  const Layout &a = problem.a, &b = problem.b, &c = problem.c, &d = problem.d;
  const uint64_t rows = ta ? a.columns : a.rows, columns = tb ? b.rows : b.columns;
  const uint64_t depthA = ta ? a.rows : a.columns, depthB = tb ? b.columns : b.rows;
  if (depthA != depthB || rows != d.rows || columns != d.columns)
    return invalid("op(A) is {} x {}, op(B) {} x {}, and D {} x {}", rows, depthA, depthB, columns, d.rows,
                   d.columns);
  if (c.rows != d.rows || c.columns != d.columns)
    return invalid("C is {} x {}, and D {} x {}", c.rows, c.columns, d.rows, d.columns);
  if (a.batches != d.batches || b.batches != d.batches || c.batches != d.batches)
    return invalid("A, B, C, D have {}, {}, {}, {} batches", a.batches, b.batches, c.batches, d.batches);
  const uint64_t lines = d.order == CUBLASLT_ORDER_COL ? d.columns : d.rows;
  if (d.batches > 1 && (d.batchStride < 0 || static_cast<uint64_t>(d.batchStride) < lines * d.ld))
    return invalid("batches of D overlap: {} elements apart, with {} each", d.batchStride, lines * d.ld);
  return std::nullopt;
}

/// Checks the rows of the type table in cuBLAS's documentation for the emulated compute types.
std::optional<Refusal> checkTypes(const Problem &problem) {
  const Operation &operation = problem.operation;
  const cudaDataType factor = problem.a.type, result = problem.d.type;
  const bool isTf32 = operation.compute == CUBLAS_COMPUTE_32F_FAST_TF32;
  if (!isTf32 && operation.compute != CUBLAS_COMPUTE_32F)
    return unsupported("compute type {} is not emulated", static_cast<int>(operation.compute));
  if (operation.scaleType != CUDA_R_32F || operation.pointerMode != CUBLASLT_POINTER_MODE_HOST)
    return unsupported("alpha and beta of other types than f32, or on the device, are not emulated");
  if (problem.c.type != result || isFp8(result))
    return unsupported("C and D must be of one type, and none of a byte");
  if (problem.isOfFp8())
    return std::nullopt; // checked by checkFp8()
  if (problem.b.type != factor)
    return unsupported("A and B must be of one type");
  if (operation.scaleA != 0 || operation.scaleB != 0)
    return invalid("A or B has a scale and is not of fp8");
  if (factor == CUDA_R_32F ? result != CUDA_R_32F : isTf32 || (result != factor && result != CUDA_R_32F))
    return unsupported("compute type {} with factors of type {} and results of type {}",
                       static_cast<int>(operation.compute), static_cast<int>(factor),
                       static_cast<int>(result));
  return std::nullopt;
}

/// Checks the requirements of fp8 kernels in cuBLAS's documentation, for GPUs that are not the newest.
std::optional<Refusal> checkFp8(const Problem &problem, int capability) {
  constexpr uint64_t kAlignment = 16;
  const Operation &operation = problem.operation;
  const Layout &a = problem.a, &b = problem.b, &d = problem.d;
  if (capability < 89)
    return unsupported("fp8 on a GPU of compute capability {}.{}", capability / 10, capability % 10);
  if (!isFp8(a.type) || !isFp8(b.type) || (a.type == CUDA_R_8F_E5M2 && b.type == CUDA_R_8F_E5M2))
    return unsupported("factors of type {} and {}", static_cast<int>(a.type), static_cast<int>(b.type));
  if (operation.compute != CUBLAS_COMPUTE_32F || operation.fastAccumulation != 0)
    return unsupported("fp8 with compute type {} or fast accumulation is not emulated",
                       static_cast<int>(operation.compute));
  if (operation.transposeA != CUBLAS_OP_T || operation.transposeB != CUBLAS_OP_N ||
      a.order != CUBLASLT_ORDER_COL || b.order != CUBLASLT_ORDER_COL || d.order != CUBLASLT_ORDER_COL)
    return unsupported("fp8 needs A transposed, B as it is, and all matrices by columns");
  if (operation.epilogue != CUBLASLT_EPILOGUE_DEFAULT)
    return unsupported("fp8 with epilogue {} is not emulated", static_cast<int>(operation.epilogue));
  for (const Layout *each : {&a, &b, &problem.c, &d})
    for (const uint64_t elements :
         {each->rows, static_cast<uint64_t>(each->ld), static_cast<uint64_t>(each->batchStride)})
      if (elements * bytesOf(each->type) % kAlignment != 0)
        return unsupported(
            "fp8 needs columns and batches of multiples of {} bytes, found {} elements of type {}",
            kAlignment, elements, static_cast<int>(each->type));
  return std::nullopt;
}

/// Supports a library without epilogues, because the epilogues on untested GPUs are unknown.
bool hasEpilogues() {
  const char *said = std::getenv("TRAINC_EMULATOR_EPILOGUES");
  return !said || std::string_view(said) != "none";
}

std::optional<Refusal> checkEpilogue(const Problem &problem) {
  constexpr cublasLtEpilogue_t kKnown[] = {
      CUBLASLT_EPILOGUE_DEFAULT,  CUBLASLT_EPILOGUE_RELU,        CUBLASLT_EPILOGUE_RELU_AUX,
      CUBLASLT_EPILOGUE_BIAS,     CUBLASLT_EPILOGUE_RELU_BIAS,   CUBLASLT_EPILOGUE_RELU_AUX_BIAS,
      CUBLASLT_EPILOGUE_DRELU,    CUBLASLT_EPILOGUE_DRELU_BGRAD, CUBLASLT_EPILOGUE_GELU,
      CUBLASLT_EPILOGUE_GELU_AUX, CUBLASLT_EPILOGUE_GELU_BIAS,   CUBLASLT_EPILOGUE_GELU_AUX_BIAS,
      CUBLASLT_EPILOGUE_DGELU,    CUBLASLT_EPILOGUE_DGELU_BGRAD, CUBLASLT_EPILOGUE_BGRADA,
      CUBLASLT_EPILOGUE_BGRADB};
  const Operation &operation = problem.operation;
  const Layout &d = problem.d;
  if (std::ranges::find(kKnown, operation.epilogue) == std::end(kKnown))
    return unsupported("epilogue {} is none", static_cast<int>(operation.epilogue));
  if (operation.epilogue != CUBLASLT_EPILOGUE_DEFAULT && !hasEpilogues())
    return unsupported("TRAINC_EMULATOR_EPILOGUES says that there is no epilogue");
  if (operation.epilogue != CUBLASLT_EPILOGUE_DEFAULT && d.order != CUBLASLT_ORDER_COL)
    return unsupported("an epilogue needs D by columns");
  const EpilogueParts parts = partsOf(operation.epilogue);
  if (parts.usesBias() && operation.biasType != -1 && operation.biasType != d.type)
    return unsupported("the bias is of type {}, D of type {}", operation.biasType, static_cast<int>(d.type));
  if (!parts.hasAux)
    return std::nullopt;
  const bool isMask = parts.relu || parts.reluGradient;
  const int64_t unit = isMask ? 128 : 8; // bits, or elements
  if (!isMask && operation.auxType != -1 && operation.auxType != d.type)
    return unsupported("the auxiliary matrix is of type {}, D of type {}", operation.auxType,
                       static_cast<int>(d.type));
  if (operation.auxLd < static_cast<int64_t>(d.rows) || operation.auxLd % unit != 0)
    return invalid("the auxiliary matrix has leading dimension {}, expected a multiple of {} and at least {}",
                   operation.auxLd, unit, d.rows);
  if (d.batches > 1 && (operation.auxBatchStride % unit != 0 ||
                        operation.auxBatchStride < operation.auxLd * static_cast<int64_t>(d.columns)))
    return invalid("batches of the auxiliary matrix are {} apart, expected a multiple of {} and at least {}",
                   operation.auxBatchStride, unit, operation.auxLd * static_cast<int64_t>(d.columns));
  return std::nullopt;
}

} // namespace

std::optional<Refusal> check(const Problem &problem, int capability) {
  if (problem.operation.transposeA > CUBLAS_OP_T || problem.operation.transposeB > CUBLAS_OP_T)
    return unsupported("conjugation is not emulated");
  const std::pair<char, const Layout *> layouts[] = {
      {'A', &problem.a}, {'B', &problem.b}, {'C', &problem.c}, {'D', &problem.d}};
  for (const auto &[name, layout] : layouts)
    if (auto refusal = checkLayout(name, *layout))
      return refusal;
  for (const auto part : {checkShapes, checkTypes, checkEpilogue})
    if (auto refusal = part(problem))
      return refusal;
  return problem.isOfFp8() ? checkFp8(problem, capability) : std::nullopt;
}

uint64_t identityOf(const Problem &problem) {
  const Operation &operation = problem.operation;
  std::string text =
      fmt::format("{} {} {} {} {} {}", static_cast<int>(operation.compute),
                  static_cast<int>(operation.transposeA), static_cast<int>(operation.transposeB),
                  static_cast<int>(operation.epilogue), operation.auxLd, operation.auxBatchStride);
  for (const Layout *layout : {&problem.a, &problem.b, &problem.c, &problem.d})
    text +=
        fmt::format(" {} {} {} {} {} {} {}", static_cast<int>(layout->type), static_cast<int>(layout->order),
                    layout->rows, layout->columns, layout->ld, layout->batches, layout->batchStride);
  return std::hash<std::string>()(text);
}

} // namespace trainc::emulator
