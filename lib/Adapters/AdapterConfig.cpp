#include "lib/Adapters/AdapterConfig.h"

#include "base/adapters.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::adapters;

static StringRef lastComponent(StringRef path) { return path.contains('.') ? path.rsplit('.').second : path; }

/// Returns PEFT's `target_modules`: the last components of the layers' paths, or the whole paths if another
/// parameter's layer ends with the same component.
static SmallVector<StringRef> targetsOf(ModuleOp module, ArrayRef<Linear> selected) {
  llvm::SetVector<StringRef> ends;
  llvm::StringSet<> layers;
  for (const Linear &linear : selected) {
    ends.insert(lastComponent(linear.layer));
    layers.insert(linear.layer);
  }
  const bool isExact = llvm::none_of(module.getOps<train::StateOp>(), [&](train::StateOp state) {
    StringRef layer = state.getSymName();
    return state.getRole() == train::StateRole::parameter && layer.consume_back(".weight") &&
           !layers.contains(layer) && ends.contains(lastComponent(layer));
  });
  if (isExact)
    return llvm::to_vector(ends);
  return llvm::map_to_vector(selected, [](const Linear &linear) { return StringRef(linear.layer); });
}

void adapters::exportConfig(train::ProgramOp program, const train::AdapterSettings &settings,
                            ArrayRef<Linear> selected, ArrayRef<std::string> saved) {
  Builder builder(program.getContext());
  const Attribute null = builder.getUnitAttr();
  const auto names = [&](auto &&texts) {
    return builder.getArrayAttr(
        llvm::map_to_vector(texts, [&](StringRef text) -> Attribute { return builder.getStringAttr(text); }));
  };
  NamedAttrList config;
  config.set("peft_type", builder.getStringAttr("LORA"));
  config.set("task_type", null);
  config.set("base_model_name_or_path", null);
  config.set("inference_mode", builder.getBoolAttr(true));
  config.set("r", builder.getI64IntegerAttr(settings.rank));
  config.set("lora_alpha", builder.getI64IntegerAttr(settings.alpha));
  config.set("lora_dropout", builder.getF64FloatAttr(settings.dropout));
  config.set("use_rslora", builder.getBoolAttr(settings.rootOfRank));
  config.set("bias", builder.getStringAttr("none"));
  config.set("init_lora_weights", builder.getBoolAttr(true));
  config.set("fan_in_fan_out", builder.getBoolAttr(llvm::any_of(
                                   selected, [](const Linear &linear) { return linear.isInOut; })));
  config.set("target_modules", names(targetsOf(program->getParentOfType<ModuleOp>(), selected)));
  config.set("modules_to_save",
             saved.empty() ? null : Attribute(names(llvm::map_range(saved, [](const std::string &layer) {
               return StringRef(layer);
             }))));
  NamedAttrList exports(program.getExportsAttr());
  exports.set(kAdapterConfigFile, config.getDictionary(program.getContext()));
  program.setExportsAttr(exports.getDictionary(program.getContext()));
}
