// Checks of library calls on their own: sizes, element types, and the presence of operands. Offsets are
// checked as for launches (verify_instructions.cpp).
#include "plan/facts/dtype.h"
#include "plan/facts/library_calls.h"
#include "plan/schema/enum_words.h"
#include "plan/verify/verify.h"

#include <cmath>
#include <initializer_list>

namespace trainc::verify {

namespace {

/// Maximum number of contiguous runs of bytes in one operand: the runs of all operands are compared.
constexpr uint64_t kMaxRuns = 4096;

/// Maximum number of matrices in one product: libraries count them in 32 bits.
constexpr uint64_t kMaxBatch = (uint64_t{1} << 31) - 1;

/// Product of positive numbers; 0 if one is 0, or if the product exceeds kMaxElements.
uint64_t boundedProduct(std::initializer_list<uint64_t> numbers) {
  uint64_t product = 1;
  for (const uint64_t number : numbers) {
    if (number == 0 || number > kMaxElements / product)
      return 0;
    product *= number;
  }
  return product;
}

Status allF32(const char *call, fb::DType values, fb::DType others, fb::DType sum) {
  if (values == fb::DType::F32 && others == fb::DType::F32 && sum == fb::DType::F32)
    return {};
  return invalidInput("{}: expected values and sums of f32, found dtypes {}, {} and {}", call,
                      static_cast<int>(values), static_cast<int>(others), static_cast<int>(sum));
}

/// Checks the types of a product whose factors may be 16-bit floats. The result is f32, or of their type.
Status shortTypes(const char *call, const fb::MatrixProduct &product) {
  using enum fb::DType;
  const fb::DType factors = product.factors();
  const bool fits = (factors == F32 || factors == BF16 || factors == F16) &&
                    (product.product() == F32 || product.product() == factors) && product.sum() == F32;
  if (!fits)
    return invalidInput(
        "{}: expected factors of f32, bf16 or f16, results of f32 or as the factors, and sums "
        "of f32, found dtypes {}, {} and {}",
        call, static_cast<int>(factors), static_cast<int>(product.product()),
        static_cast<int>(product.sum()));
  if (product.tf32() && factors != F32)
    return invalidInput("{}: expected factors of f32 to round to TF32, found dtype {}", call,
                        static_cast<int>(factors));
  return {};
}

/// Checks that an operand is present if needed, and absent if not allowed.
Status presence(const char *call, const LibraryOperand &operand, bool isNeeded, bool mayBe) {
  if (operand.operand ? mayBe || isNeeded : !isNeeded)
    return {};
  return invalidInput("{}, operand {}: expected {}, found {}", call, operand.name,
                      operand.operand ? "none" : "one", operand.operand ? "one" : "none");
}

/// Matrices of one operand. `row` and `matrix` are distances in elements: from one row to the next, and from
/// one matrix to the next. `element` is the element size in bytes.
struct Matrices {
  const char *name;
  uint64_t rows, columns, row, matrix, element;
};

class ProductVerifier {
public:
  ProductVerifier(const fb::Instruction &instruction, const TargetTraits &target)
      : call_(*instruction.operation_as_MatrixProduct()), operands_(libraryOperands(instruction)),
        target_(target) {}

  Status check() const {
    TRAINC_RETURN_IF_ERROR(types());
    TRAINC_RETURN_IF_ERROR(kinds());
    const bool fits = boundedProduct({call_.batch(), call_.m(), call_.k()}) != 0 &&
                      boundedProduct({call_.batch(), call_.k(), call_.n()}) != 0 &&
                      boundedProduct({call_.batch(), call_.m(), call_.n()}) != 0;
    if (!fits)
      return invalidInput(
          "{}: expected a batch, m, n and k above 0, of at most {} elements each operand, found {}, {}, {} "
          "and {}",
          kName, kMaxElements, call_.batch(), call_.m(), call_.n(), call_.k());
    if (call_.batch() > kMaxBatch)
      return invalidInput("{}: expected a batch of at most {}, found {}", kName, kMaxBatch, call_.batch());
    TRAINC_RETURN_IF_ERROR(matrices(
        sided("a", call_.transpose_a(), call_.m(), call_.k(), call_.row_a(), call_.matrix_a()), true));
    TRAINC_RETURN_IF_ERROR(matrices(
        sided("b", call_.transpose_b(), call_.k(), call_.n(), call_.row_b(), call_.matrix_b()), true));
    TRAINC_RETURN_IF_ERROR(matrices({"result", call_.m(), call_.n(), call_.row_result(),
                                     call_.matrix_result(), elementBytes(call_.product())},
                                    false));
    return presences();
  }

private:
  static constexpr const char *kName = "matrix product";

  bool isGradient() const {
    return call_.activation() == fb::Activation::GeluGradient ||
           call_.activation() == fb::Activation::GeluTanhGradient;
  }

  bool isOfF8() const { return isF8(call_.factors()) || isF8(factorsOfB(call_)); }

  Status types() const {
    if (isOfF8())
      return f8Product(call_, target_);
    if (factorsOfB(call_) != call_.factors())
      return invalidInput("{}: expected factors of one type, found {} and {}", kName,
                          dtypeName(call_.factors()), dtypeName(factorsOfB(call_)));
    if (target_.librariesTakeShort)
      return shortTypes(kName, call_);
    if (call_.tf32())
      return invalidInput("{}: expected factors as they are on a {}, found ones rounded to TF32", kName,
                          target_.processor());
    return allF32(kName, call_.factors(), call_.product(), call_.sum());
  }

  Status kinds() const {
    if (call_.activation() > fb::Activation::MAX || call_.side_sum() > fb::SideSum::MAX)
      return invalidInput("{}: unknown activation {} or side sum {}", kName,
                          static_cast<int>(call_.activation()), static_cast<int>(call_.side_sum()));
    const bool isPlain = call_.activation() == fb::Activation::None && !call_.bias();
    const bool fits =
        call_.side_sum() == fb::SideSum::None ||
        (call_.batch() == 1 && (call_.side_sum() == fb::SideSum::Result ? isGradient() : isPlain));
    if (!fits)
      return invalidInput(
          "{}: expected side sums only for a single matrix: of its result if there is the gradient of an "
          "activation, of a factor if there is no activation and no bias; found side sum {} with activation "
          "{} and {} matrices",
          kName, wordOf(call_.side_sum()), wordOf(call_.activation()), call_.batch());
    return {};
  }

  Matrices sided(const char *name, bool transposed, uint64_t rows, uint64_t columns, uint64_t row,
                 uint64_t matrix) const {
    return {name,   transposed ? columns : rows,  transposed ? rows : columns, row,
            matrix, elementBytes(call_.factors())};
  }

  /// Checks that neither rows nor matrices overlap. With `mayShare`, all products of a batch may have the
  /// same matrix (distance 0).
  Status matrices(const Matrices &each, bool mayShare) const {
    const uint64_t rows = boundedProduct({each.rows, each.row});
    if (each.row < each.columns || rows == 0)
      return invalidInput("{}, operand {}: expected rows at least {} elements apart, found {} rows {} apart",
                          kName, each.name, each.columns, each.rows, each.row);
    const uint64_t extent = rows - each.row + each.columns;
    const bool isOne = call_.batch() == 1 || (mayShare && each.matrix == 0);
    const bool areApart = each.matrix >= extent && boundedProduct({call_.batch(), each.matrix}) != 0;
    if (isOne ? each.matrix != 0 : !areApart)
      return invalidInput("{}, operand {}: expected {} matrices at least {} elements apart{}, found {}",
                          kName, each.name, call_.batch(), extent, mayShare ? ", or 0 for one" : "",
                          each.matrix);
    const StridedBytes runs = StridedBytes{.rowBytes = each.columns * each.element,
                                           .rows = each.rows,
                                           .rowStride = each.row * each.element,
                                           .matrices = isOne ? 1 : call_.batch(),
                                           .matrixStride = each.matrix * each.element}
                                  .padded()
                                  .joined();
    if (runs.rows > kMaxRuns / runs.matrices)
      return invalidInput(
          "{}, operand {}: expected at most {} rows or matrices with gaps between them, found {}", kName,
          each.name, kMaxRuns, runs.rows * runs.matrices);
    return {};
  }

  Status presences() const {
    const auto is = [&](ProductOperand operand, bool isNeeded, bool mayBe) {
      return presence(kName, operands_[operand], isNeeded, mayBe);
    };
    for (const ProductOperand each : {kFactorA, kFactorB, kProduct})
      TRAINC_RETURN_IF_ERROR(is(each, true, true));
    TRAINC_RETURN_IF_ERROR(is(kBias, false, !isGradient()));
    TRAINC_RETURN_IF_ERROR(is(kAuxiliary, isGradient(), call_.activation() != fb::Activation::None));
    TRAINC_RETURN_IF_ERROR(is(kSideSums, call_.side_sum() != fb::SideSum::None, false));
    for (const ProductOperand each : {kScaleA, kScaleB})
      TRAINC_RETURN_IF_ERROR(is(each, isOfF8(), false));
    return is(kProductWorkspace, call_.workspace_bytes() > 0, false);
  }

  const fb::MatrixProduct &call_;
  std::vector<LibraryOperand> operands_;
  const TargetTraits &target_;
};

class AttentionVerifier {
public:
  AttentionVerifier(const fb::Instruction &instruction, const TargetTraits &target)
      : call_(*instruction.operation_as_Attention()), operands_(libraryOperands(instruction)),
        target_(target) {}

  Status check() const {
    TRAINC_RETURN_IF_ERROR(types());
    if (call_.pass() > fb::AttentionPass::MAX)
      return invalidInput("attention: unknown pass {}", static_cast<int>(call_.pass()));
    if (!std::isfinite(call_.scale()))
      return invalidInput("attention: expected a finite scale, found {}", call_.scale());
    TRAINC_RETURN_IF_ERROR(sizes());
    return presences();
  }

private:
  bool isBackward() const { return call_.pass() == fb::AttentionPass::Backward; }

  /// Checks the types of values, which may be 16-bit floats if the target's libraries take them.
  Status types() const {
    using enum fb::DType;
    if (!target_.librariesTakeShort)
      return allF32("attention", call_.values(), F32, call_.sum());
    const fb::DType values = call_.values();
    if ((values == F32 || values == BF16 || values == F16) && call_.sum() == F32)
      return {};
    return invalidInput(
        "attention: expected values of f32, bf16 or f16 and sums of f32, found dtypes {} and {}",
        static_cast<int>(values), static_cast<int>(call_.sum()));
  }

  Status sizes() const {
    const auto isBounded = [&](uint64_t positions, uint64_t size) {
      return boundedProduct({call_.batch(), positions, call_.heads(), size}) != 0;
    };
    const bool fits =
        isBounded(call_.queries(), call_.head_size()) && isBounded(call_.queries(), call_.value_size()) &&
        isBounded(call_.keys(), call_.head_size()) && isBounded(call_.keys(), call_.value_size());
    if (!fits)
      return invalidInput(
          "attention: expected sizes above 0, of at most {} elements each operand, found batch {}, {} "
          "queries, {} keys, {} heads of {} and {}",
          kMaxElements, call_.batch(), call_.queries(), call_.keys(), call_.heads(), call_.head_size(),
          call_.value_size());
    if (call_.key_heads() == 0 || call_.heads() % call_.key_heads() != 0)
      return invalidInput("attention: expected key heads that divide its {} heads, found {}", call_.heads(),
                          call_.key_heads());
    if (call_.segments() && call_.keys() != call_.queries())
      return invalidInput("attention: expected as many keys as its {} queries, which have segments, found {}",
                          call_.queries(), call_.keys());
    return {};
  }

  Status presences() const {
    const auto is = [&](AttentionOperand operand, bool isNeeded, bool mayBe) {
      return presence("attention", operands_[operand], isNeeded, mayBe);
    };
    for (const AttentionOperand each : {kQuery, kKey, kValue, kOut, kLogSumExp})
      TRAINC_RETURN_IF_ERROR(is(each, true, true));
    TRAINC_RETURN_IF_ERROR(is(kSegments, false, true));
    TRAINC_RETURN_IF_ERROR(is(kLimit, false, !isBackward()));
    for (const AttentionOperand each : {kOutGradient, kQueryGradient, kKeyGradient, kValueGradient})
      TRAINC_RETURN_IF_ERROR(is(each, isBackward(), false));
    return is(kAttentionWorkspace, call_.workspace_bytes() > 0, false);
  }

  const fb::Attention &call_;
  std::vector<LibraryOperand> operands_;
  const TargetTraits &target_;
};

} // namespace

Status librarySizes(const fb::Plan &plan, const fb::Instruction &call) {
  return call.operation_type() == fb::Operation::MatrixProduct
             ? ProductVerifier(call, targetOf(plan)).check()
             : AttentionVerifier(call, targetOf(plan)).check();
}

} // namespace trainc::verify
