// Library calls: the bytes that they access, their work, and how they are built.
#include "dialects/Interfaces/Interfaces.h"
#include "dialects/Plan/Plan.h"
#include "plan/schema/row_padding.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::plan;

/// Bytes of an f32 number, and of an i32 element of attention's masks.
static constexpr int64_t kElementBytes = 4;

/// Bytes from the first to the last element of `count` matrices of `rows` rows, including row padding.
static int64_t matrixBytes(int64_t rows, int64_t columns, int64_t row, int64_t count, int64_t matrix,
                           int64_t element) {
  return ((count - 1) * matrix + (rows - 1) * row) * element +
         int64_t(trainc::paddedRowBytes(columns * element, row * element));
}

static int64_t bytesOf(std::optional<Type> element) {
  return element ? int64_t(element->getIntOrFloatBitWidth()) / 8 : kElementBytes;
}

static void addUse(SmallVectorImpl<OperandUse> &uses, std::optional<OperandAttr> operand, int64_t bytes,
                   bool reads, bool writes, bool isWorkspace = false) {
  if (operand)
    uses.push_back({*operand, bytes, reads, writes, isWorkspace});
}

SmallVector<OperandUse> MatrixProductOp::getOperandUses() {
  const int64_t m = getM(), n = getN(), k = getK(), batch = getBatch();
  const int64_t ofA = bytesOf(getFactors()), other = bytesOf(getProduct());
  const int64_t ofB = getFactorsB() ? bytesOf(getFactorsB()) : ofA;
  const int64_t result = matrixBytes(m, n, getRowResult(), batch, getMatrixResult(), other);
  const bool readsAuxiliary = isGradient(getActivation());
  SmallVector<OperandUse> uses;
  addUse(uses, getA(),
         matrixBytes(getTransposeA() ? k : m, getTransposeA() ? m : k, getRowA(), batch, getMatrixA(), ofA),
         true, false);
  addUse(uses, getB(),
         matrixBytes(getTransposeB() ? n : k, getTransposeB() ? k : n, getRowB(), batch, getMatrixB(), ofB),
         true, false);
  addUse(uses, getResult(), result, getAdds(), true);
  addUse(uses, getBias(), n * other, true, false);
  addUse(uses, getAuxiliary(), result, readsAuxiliary, !readsAuxiliary);
  addUse(uses, getSide(), (getSideSum() == SideSum::a ? m : n) * other, false, true);
  addUse(uses, getAScale(), kElementBytes, true, false);
  addUse(uses, getBScale(), kElementBytes, true, false);
  addUse(uses, getWorkspace(), getWorkspaceBytes(), false, true, /*isWorkspace=*/true);
  return uses;
}

/// Bytes that the call moves, without its workspace.
static double movedBytes(ArrayRef<OperandUse> uses) {
  double bytes = 0;
  for (const OperandUse &use : uses)
    if (!use.isWorkspace)
      bytes += double(use.bytes) * (use.reads && use.writes ? 2 : 1);
  return bytes;
}

static Type elementOr(std::optional<Type> element, MLIRContext *context) {
  return element ? *element : Float32Type::get(context);
}

Work MatrixProductOp::getCallWork() {
  const Type factor = elementOr(getFactors(), getContext());
  auto isAligned = [&](uint64_t row) { return row * factor.getIntOrFloatBitWidth() % (16 * 8) == 0; };
  const double results = double(getBatch()) * double(getM()) * double(getN());
  return {.worker = Worker::Products,
          .factor = getTf32() ? Factor::Tf32 : factorOf(factor),
          .isAligned = isAligned(getRowA()) && isAligned(getRowB()) && isAligned(getRowResult()),
          .sumsBeside = getSideSum() != SideSum::none,
          .flops = 2 * results * double(getK()),
          .arithmetic = getActivation() == Activation::none ? 0 : kActivationFlops * results,
          .bytes = movedBytes(getOperandUses())};
}

std::string MatrixProductOp::describe() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << getOperationName().substr(PlanDialect::getDialectNamespace().size() + 1);
  if (getBatch() > 1)
    stream << " batch " << getBatch();
  stream << " " << getM() << " x " << getN() << " x " << getK();
  if (auto factors = getFactors())
    stream << " " << *factors;
  if (getAdds())
    stream << " adds";
  if (getActivation() != Activation::none)
    stream << " " << stringifyActivation(getActivation());
  return text;
}

SmallVector<OperandUse> AttentionOp::getOperandUses() {
  const bool backward = getPass() == AttentionPass::backward;
  const int64_t queries = getBatch() * getQueries(), keys = getBatch() * getKeys();
  const int64_t element = bytesOf(getValues());
  const int64_t query = queries * getHeads() * getHeadSize() * element,
                key = keys * getKeyHeads() * getHeadSize() * element,
                value = keys * getKeyHeads() * getValueSize() * element,
                out = queries * getHeads() * getValueSize() * element;
  SmallVector<OperandUse> uses;
  addUse(uses, getQuery(), query, true, false);
  addUse(uses, getKey(), key, true, false);
  addUse(uses, getValue(), value, true, false);
  addUse(uses, getOut(), out, backward, !backward);
  addUse(uses, getLogSumExp(), queries * getHeads() * kElementBytes, backward, !backward);
  addUse(uses, getSegments(), queries * kElementBytes, true, false);
  addUse(uses, getLimit(), kElementBytes, true, false);
  addUse(uses, getOutGradient(), out, true, false);
  addUse(uses, getQueryGradient(), query, false, true);
  addUse(uses, getKeyGradient(), key, false, true);
  addUse(uses, getValueGradient(), value, false, true);
  addUse(uses, getWorkspace(), getWorkspaceBytes(), false, true, /*isWorkspace=*/true);
  return uses;
}

/// Counts flops of attention. A causal query attends to about half of the keys. The backward pass has three
/// products over the head size of q and k and two over that of v.
Work AttentionOp::getCallWork() {
  const double queries = getQueries(), keys = getKeys();
  const double pairs = getCausal() && keys >= queries
                           ? queries * (keys - queries) + queries * (queries + 1) / 2
                           : queries * keys;
  const bool backward = getPass() == AttentionPass::backward;
  const double sizes =
      (backward ? 3 : 1) * double(getHeadSize()) + (backward ? 2 : 1) * double(getValueSize());
  return {.worker = backward ? Worker::LibraryAttentionGrad : Worker::LibraryAttention,
          .factor = factorOf(elementOr(getValues(), getContext())),
          .flops = 2.0 * getBatch() * getHeads() * pairs * sizes,
          .bytes = movedBytes(getOperandUses())};
}

std::string AttentionOp::describe() { return ("attention " + stringifyAttentionPass(getPass())).str(); }

Operation *LibraryCallSpecAttr::build(OpBuilder &builder, Location loc, StringRef source,
                                      llvm::function_ref<OperandAttr(int64_t)> operand) const {
  OperationState state(loc, getCall());
  state.addAttributes(getSizes().getValue());
  for (NamedAttribute each : getOperands())
    state.addAttribute(each.getName(), operand(cast<IntegerAttr>(each.getValue()).getInt()));
  state.addAttribute("op", builder.getStringAttr(source));
  return builder.create(state);
}
