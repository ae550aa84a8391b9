#include "test/emulator/libcublaslt/epilogue.h"

#include <algorithm>
#include <cmath>

namespace trainc::emulator {

namespace {

constexpr float kRoot = 0.7978845608028654F; ///< of 2 / pi
constexpr float kCubic = 0.044715F;
/// Bits of a mask per element of its layout.
constexpr size_t kWordBits = 16;

/// Elements of a bias, or of the sums in its place.
uint64_t biasElements(const Problem &problem, const EpilogueParts &parts) {
  return parts.sumsB ? problem.columns() : problem.rows();
}

Layout auxLayout(const Problem &problem, bool isMask) {
  const int64_t unit = isMask ? kWordBits : 1;
  Layout layout = problem.d;
  if (isMask) {
    layout.type = CUDA_R_16F; // as many bytes as a word
    layout.rows = (layout.rows + kWordBits - 1) / kWordBits;
  }
  layout.ld = problem.operation.auxLd / unit;
  layout.batchStride = problem.operation.auxBatchStride / unit;
  return layout;
}

float sumOfRow(const Matrix &matrix, size_t row, size_t count) {
  float sum = 0;
  for (size_t i = 0; i < count; ++i)
    sum += matrix(row, i);
  return sum;
}

} // namespace

float gelu(float x) { return 0.5F * x * (1 + std::tanh(kRoot * (x + kCubic * x * x * x))); }

float geluGradient(float x) {
  const float tanh = std::tanh(kRoot * (x + kCubic * x * x * x));
  return 0.5F * (1 + tanh) + 0.5F * x * (1 - tanh * tanh) * kRoot * (1 + 3 * kCubic * x * x);
}

Epilogue::Epilogue(const Problem &problem)
    : parts_(partsOf(problem.operation.epilogue)), isMask_(parts_.relu || parts_.reluGradient) {
  const Operation &operation = problem.operation;
  if (parts_.usesBias())
    bias_.emplace(parts_.addsBias ? "bias" : "bias gradient", operation.bias,
                  vectorLayout(problem.d.type, biasElements(problem, parts_), problem.d.batches,
                               operation.biasBatchStride));
  if (parts_.hasAux)
    aux_.emplace("auxiliary matrix", operation.aux, auxLayout(problem, isMask_));
  sums_.resize(parts_.sumsRows                ? problem.rows()
               : parts_.sumsA || parts_.sumsB ? biasElements(problem, parts_)
                                              : 0);
}

std::optional<std::string> Epilogue::whyNot() const {
  const bool readsAux = parts_.reluGradient || parts_.geluGradient;
  if (bias_)
    if (auto problem = parts_.addsBias ? bias_->whyUnreadable() : bias_->whyUnwritable())
      return problem;
  if (aux_)
    return readsAux ? aux_->whyUnreadable() : aux_->whyUnwritable();
  return std::nullopt;
}

void Epilogue::begin(size_t batch) {
  if (bias_)
    biasNow_ = bias_->batch(batch);
  if (aux_)
    auxNow_ = aux_->batch(batch);
  std::ranges::fill(sums_, 0.0F);
}

bool Epilogue::maskBit(size_t row, size_t column) const {
  uint16_t word = 0;
  std::memcpy(&word, auxNow_.at(row / kWordBits, column), sizeof word);
  return (word >> row % kWordBits & 1) != 0;
}

void Epilogue::setMaskBit(size_t row, size_t column, bool isSet) const {
  uint16_t word = 0;
  std::memcpy(&word, auxNow_.at(row / kWordBits, column), sizeof word);
  const unsigned bit = 1U << row % kWordBits;
  word = static_cast<uint16_t>(isSet ? word | bit : word & ~bit);
  std::memcpy(auxNow_.at(row / kWordBits, column), &word, sizeof word);
}

float Epilogue::apply(size_t row, size_t column, float value) {
  if (parts_.addsBias)
    value += biasNow_(row, 0);
  if (parts_.gelu) {
    if (parts_.hasAux)
      auxNow_.set(row, column, value);
    value = gelu(value);
  } else if (parts_.relu) {
    if (parts_.hasAux)
      setMaskBit(row, column, value > 0);
    value = value > 0 ? value : 0;
  } else if (parts_.geluGradient) {
    value *= geluGradient(auxNow_(row, column));
  } else if (parts_.reluGradient) {
    value = maskBit(row, column) ? value : 0;
  }
  if (parts_.sumsRows)
    sums_[row] += value;
  return value;
}

void Epilogue::end(const Matrix &opA, const Matrix &opB, size_t depth) {
  for (size_t i = 0; i < sums_.size(); ++i) {
    if (parts_.sumsA)
      sums_[i] = sumOfRow(opA, i, depth);
    else if (parts_.sumsB)
      sums_[i] = sumOfRow(opB.transposed(), i, depth);
    biasNow_.set(i, 0, sums_[i]);
  }
}

void Epilogue::noteWritten() const {
  if (bias_ && !parts_.addsBias)
    bias_->noteWritten();
  if (aux_ && (parts_.relu || parts_.gelu))
    aux_->noteWritten();
}

} // namespace trainc::emulator
