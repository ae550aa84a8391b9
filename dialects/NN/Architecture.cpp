// The properties of an architecture that follow from an op's attributes and shapes.
#include "dialects/NN/Architecture.h"

#include "dialects/NN/Builders.h"
#include "dialects/NN/Syntax.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

using Facts = SmallVector<Fact>;

static Fact whole(Operation *op, Feature feature, const Twine &before, int64_t value, const Twine &after) {
  return {feature, Builder(op->getContext()).getI64IntegerAttr(value), (before + Twine(value) + after).str()};
}

static Fact number(Operation *op, Feature feature, const Twine &before, double value) {
  return {feature, Builder(op->getContext()).getF64FloatAttr(value), (before + formatNumber(value)).str()};
}

static Facts activation(Operation *op, StringRef name) {
  return {{Feature::activation, StringAttr::get(op->getContext(), name),
           (op->getName().getStringRef() + " computes \"" + name + "\"").str()}};
}

static Facts factsOfAttention(AttentionOp op) {
  const auto heads = int64_t(op.getHeads());
  return {
      whole(op, Feature::heads, "nn.attention has ", heads, " heads"),
      whole(op, Feature::keyHeads, "nn.attention has ", op.keyHeads(), " heads of keys and values"),
      whole(op, Feature::headWidth, "the heads of nn.attention are ", shapeOf(op.getQ())[2] / heads, " wide"),
      number(op, Feature::scoreScale, "nn.attention scales scores by ", op.scoreScale()),
      {Feature::causal, BoolAttr::get(op->getContext(), op.getCausal()),
       op.getCausal() ? "nn.attention is causal" : "nn.attention is not causal"}};
}

/// Whether a value is data or a parameter, which nothing computes.
static bool isRead(Value value) {
  Operation *op = value.getDefiningOp();
  return !op || op->getNumOperands() == 0;
}

static Facts factsOfTable(GatherOp op) {
  const ArrayRef<int64_t> table = shapeOf(op.getTable());
  if (op.getIds().getDefiningOp<PositionsOp>())
    return {whole(op, Feature::positions, "the table of positions has ", table[0], " rows")};
  if (!isRead(op.getIds()))
    return {};
  return {whole(op, Feature::vocabulary, "the table of tokens has ", table[0], " rows"),
          whole(op, Feature::width, "the table of tokens is ", table[1], " wide")};
}

Facts nn::factsOf(Operation *op) {
  return TypeSwitch<Operation *, Facts>(op)
      .Case(factsOfAttention)
      .Case(factsOfTable)
      .Case([](RopeOp rope) {
        return Facts{number(rope, Feature::theta, "nn.rope has theta ", rope.getTheta().convertToDouble())};
      })
      .Case<StandardizeOp, RmsStandardizeOp>([](auto norm) {
        return Facts{number(norm, Feature::epsilon, "the norm has eps ", norm.getEps().convertToDouble())};
      })
      .Case([](GeluOp gelu) { return activation(gelu, gelu.getApproximate() ? "gelu_new" : "gelu"); })
      .Case([](ReluOp relu) { return activation(relu, "relu"); })
      .Case([](SiluOp silu) { return activation(silu, "silu"); })
      .Default(Facts());
}

Facts nn::factsOfLogits(Value logits) {
  auto product = logits ? logits.getDefiningOp<MatmulOp>() : MatmulOp();
  if (!product || !isRead(product.getRhs()))
    return {};
  const bool tied = llvm::any_of(product.getRhs().getUsers(), llvm::IsaPred<GatherOp>);
  return {whole(product, Feature::width, "the input of the logits is ", shapeOf(product.getLhs()).back(),
                " wide"),
          {Feature::tied, BoolAttr::get(product->getContext(), tied),
           tied ? "the logits use the weight of an embedding" : "the logits have a weight of their own"}};
}

bool nn::isAttention(Operation *op) { return isa<AttentionOp>(op); }

void nn::warnOfRotatedHeads(Operation *op) {
  auto attention = dyn_cast<AttentionOp>(op);
  if (!attention)
    return;
  const auto check = [&](StringRef name, Value value, int64_t heads) {
    auto rope = value.getDefiningOp<RopeOp>();
    if (!rope || int64_t(rope.getHeads()) == heads)
      return;
    InFlightDiagnostic warning = attention.emitWarning("operand ")
                                 << name << " has " << heads << " heads here, but nn.rope rotates "
                                 << int64_t(rope.getHeads()) << "; give nn.rope `heads " << heads << "`";
    warning.attachNote(rope.getLoc()) << "nn.rope is here";
  };
  check("q", attention.getQ(), int64_t(attention.getHeads()));
  check("k", attention.getK(), attention.keyHeads());
}

Operation *nn::earlierUserOfDropoutKey(Operation *op) {
  auto attention = dyn_cast<AttentionOp>(op);
  if (!attention || !attention.getDropoutKey() || attention.getDropout()->isZero())
    return nullptr;
  for (Operation *user : attention.getDropoutKey().getUsers())
    if (auto other = dyn_cast<AttentionOp>(user); other && other != attention &&
                                                  other->getBlock() == op->getBlock() &&
                                                  other->isBeforeInBlock(op) && !other.getDropout()->isZero())
      return other;
  return nullptr;
}
