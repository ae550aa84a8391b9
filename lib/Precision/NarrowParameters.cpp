// Pass `narrow-parameters`: stores parameters in bf16 alone.
#include "lib/Precision/ElementTypes.h"
#include "lib/Precision/Passes.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_NARROWPARAMETERS
#include "lib/Precision/Passes.h.inc"

namespace {

/// Narrows the parameters of one module.
class Narrower {
public:
  Narrower(ModuleOp module, train::PrecisionSettings settings)
      : module(module), settings(std::move(settings)) {}

  void run() {
    for (auto state : module.getOps<train::StateOp>())
      if (isNarrowed(state)) {
        state.setType(cast<RankedTensorType>(state.getType()).clone(settings.params));
        narrowed.insert(state.getSymName());
      }
    SmallVector<train::GetOp> reads; // collected first, because narrowRead erases ops
    module.walk([&](train::GetOp get) { reads.push_back(get); });
    for (train::GetOp get : reads)
      if (narrowed.contains(get.getState()))
        narrowRead(get);
    module.walk([&](train::SetOp set) {
      if (narrowed.contains(set.getState()))
        narrowWrite(set);
    });
  }

private:
  bool isNarrowed(train::StateOp state) const {
    return state.getRole() == train::StateRole::parameter &&
           cast<RankedTensorType>(state.getType()).getElementType().isF32() &&
           !settings.keepsF32(state.getSymName());
  }

  /// Casts to the low type read the parameter directly; other users read it converted to f32.
  void narrowRead(train::GetOp get) {
    Value value = get.getResult();
    const Type full = floatElement(value);
    SmallVector<OpOperand *> wide;
    SmallVector<nn::ConvertOp> casts;
    for (OpOperand &use : value.getUses()) {
      auto convert = dyn_cast<nn::ConvertOp>(use.getOwner());
      if (convert && convert.getTo() == settings.params)
        casts.push_back(convert);
      else
        wide.push_back(&use);
    }
    value.setType(nn::tensorType(value).clone(settings.params));
    for (nn::ConvertOp convert : casts) {
      convert.getResult().replaceAllUsesWith(value);
      convert.erase();
    }
    if (wide.empty())
      return;
    OpBuilder builder(get);
    builder.setInsertionPointAfter(get);
    Value widened = nn::TensorBuilder(builder, get.getLoc()).convert(value, full);
    for (OpOperand *use : wide)
      use->set(widened);
  }

  /// Rounds the initial values that `init` writes.
  void narrowWrite(train::SetOp set) {
    OpBuilder builder(set);
    set.getValueMutable().assign(
        nn::TensorBuilder(builder, set.getLoc()).convert(set.getValue(), settings.params));
  }

  ModuleOp module;
  train::PrecisionSettings settings;
  llvm::StringSet<> narrowed;
};

struct NarrowParameters : impl::NarrowParametersBase<NarrowParameters> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<train::ProgramOp>())
      if (train::PrecisionSettings settings = train::precisionOf(program); settings.params.isBF16())
        Narrower(getOperation(), std::move(settings)).run();
  }
};

} // namespace
} // namespace trainc
