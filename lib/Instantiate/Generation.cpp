// Whether a program gets the entries of generation, and what it says if not.
#include "dialects/NN/Builders.h"
#include "lib/Instantiate/Entries.h"
#include "lib/Instantiate/PositionFlow.h"
#include "lib/Support/SourceName.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace trainc;

/// Whether the model continues token sequences: tokens [batch, t], and perhaps other integers, lead to logits
/// [batch, t, vocabulary].
static bool isLanguageModel(const Forward &micro) {
  Value logits = micro.outputs.lookup("logits");
  if (!logits || nn::tensorType(logits).getRank() != 3)
    return false;
  bool hasTokens = false;
  for (Operation *op : opsLeadingTo(logits))
    if (auto input = dyn_cast<train::InputOp>(op)) {
      RankedTensorType type = nn::tensorType(input.getResult());
      if (!type.getElementType().isInteger())
        return false;
      hasTokens |= input.getColumn() == "tokens" && type.getShape() == nn::shapeOf(logits).drop_back();
    }
  return hasTokens;
}

namespace {
/// The first error of an attempt.
struct Refusal {
  Location loc;
  std::string text;
};
} // namespace

/// A prompt has any length.
static LogicalResult checkOpenLength(nn::ModelOp model) {
  for (auto [column, type] : llvm::zip(model.getColumns().getAsValueRange<StringAttr>(),
                                       model.getArgumentTypes().getAsValueRange<TypeAttr>()))
    if (auto tensor = cast<RankedTensorType>(type); column == "tokens" && !tensor.isDynamicDim(1))
      return model.emitError("column 'tokens' is ")
             << tensor << "; for other lengths than " << tensor.getDimSize(1)
             << " its second dimension must be `?`";
  return success();
}

/// Builds the entries; or, where that fails, leaves the module as it was and says why.
static std::optional<Refusal> tryEntries(Instantiation &shared) {
  std::optional<Refusal> refusal;
  ScopedDiagnosticHandler keepFirst(shared.binding.module.getContext(), [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
      return failure();
    if (!refusal)
      refusal = {diagnostic.getLocation(), diagnostic.str()};
    return success();
  });
  StateTable before = shared.states;
  if (failed(checkOpenLength(shared.binding.model)))
    return refusal;
  FailureOr<PositionFlow> flow = checkPositionFlow(shared);
  if (failed(flow) || failed(checkSampleFlow(shared)) || failed(buildGenerationEntries(shared, *flow)))
    shared.states.revertTo(before);
  return refusal;
}

void trainc::buildGeneration(Instantiation &shared, const Forward &micro) {
  if (!isLanguageModel(micro))
    return;
  std::optional<Refusal> refusal = tryEntries(shared);
  if (!refusal)
    return;
  emitRemark(refusal->loc) << "the plan gets no prefill and decode, which take one sample of any length: "
                           << refusal->text;
  FileLineColLoc file = fileLocation(refusal->loc);
  std::string where = file ? (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ": ").str() : "";
  shared.binding.program.setNoGeneration(where + refusal->text);
}
