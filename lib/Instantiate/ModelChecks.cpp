#include "lib/Instantiate/ModelChecks.h"

#include "dialects/NN/Architecture.h"
#include "dialects/NN/Syntax.h"

#include "llvm/ADT/DenseSet.h"

#include <cmath>
#include <map>

using namespace mlir;
using namespace trainc;
using nn::Fact;
using nn::Feature;

static constexpr StringRef kConfigFile = "config.json";

namespace {
/// A property with the op that tells it.
struct Known {
  Fact fact;
  Location loc;
  bool isUnanimous = true;
};

/// Properties of a model.
class Architecture {
public:
  Architecture(train::EntryOp entry, const Forward &forward);

  /// Returns the property, or null if the model does not show it or its ops disagree.
  const Known *find(Feature feature) const;

private:
  void add(const Fact &fact, Location loc);

  std::map<Feature, Known> known;
};

/// A key of Hugging Face's configurations.
struct ConfigKey {
  StringRef path; ///< names of nested objects and of the key, joined by dots
  Feature feature;
};

/// An activation of Hugging Face's configurations.
struct ActivationName {
  StringRef name, sameAs;
};
} // namespace

static constexpr ConfigKey kKeys[] = {
    {"n_head", Feature::heads},
    {"n_heads", Feature::heads},
    {"num_heads", Feature::heads},
    {"num_attention_heads", Feature::heads},
    {"num_key_value_heads", Feature::keyHeads},
    {"head_dim", Feature::headWidth},
    {"n_layer", Feature::layers},
    {"num_hidden_layers", Feature::layers},
    {"n_embd", Feature::width},
    {"hidden_size", Feature::width},
    {"d_model", Feature::width},
    {"vocab_size", Feature::vocabulary},
    {"n_positions", Feature::positions},
    {"n_ctx", Feature::positions},
    {"max_position_embeddings", Feature::positions},
    {"layer_norm_epsilon", Feature::epsilon},
    {"layer_norm_eps", Feature::epsilon},
    {"rms_norm_eps", Feature::epsilon},
    {"rope_theta", Feature::theta},
    {"rope_parameters.rope_theta", Feature::theta},
    {"activation_function", Feature::activation},
    {"hidden_act", Feature::activation},
    {"tie_word_embeddings", Feature::tied},
};

/// Activations that a model shows. Other names are not compared.
static constexpr ActivationName kActivations[] = {
    {"gelu", "gelu"},
    {"gelu_python", "gelu"},
    {"gelu_new", "gelu_new"},
    {"relu", "relu"},
    {"gelu_pytorch_tanh", "gelu_new"},
    {"gelu_fast", "gelu_new"},
    {"silu", "silu"},
    {"swish", "silu"},
};

/// Types of models with causal attention, which scales scores by 1/sqrt(width of a head) unless a key of
/// kScaleKeys is given.
static constexpr StringRef kDecoders[] = {"gpt2", "llama", "mistral", "qwen2", "qwen3"};
static constexpr StringRef kScaleKeys[] = {"scale_attn_weights", "scale_attn_by_inverse_layer_idx"};

// --- Properties ---

Architecture::Architecture(train::EntryOp entry, const Forward &forward) {
  int64_t layers = 0;
  Operation *first = nullptr;
  entry.walk([&](Operation *op) {
    for (const Fact &fact : nn::factsOf(op))
      add(fact, op->getLoc());
    if (nn::isAttention(op)) {
      first = first ? first : op;
      ++layers;
    }
  });
  // In an encoder with a decoder, some attention is causal, and a layer may have two.
  if (first && find(Feature::causal))
    add({Feature::layers, Builder(entry.getContext()).getI64IntegerAttr(layers),
         ("the model has " + Twine(layers) + " nn.attention").str()},
        first->getLoc());
  if (const Value logits = forward.outputs.lookup("logits"))
    for (const Fact &fact : nn::factsOfLogits(logits))
      add(fact, logits.getLoc());
}

void Architecture::add(const Fact &fact, Location loc) {
  auto [entry, isNew] = known.try_emplace(fact.feature, Known{fact, loc});
  if (!isNew && entry->second.fact.value != fact.value)
    entry->second.isUnanimous = false;
}

const Known *Architecture::find(Feature feature) const {
  const auto entry = known.find(feature);
  return entry != known.end() && entry->second.isUnanimous ? &entry->second : nullptr;
}

// --- Values ---

/// Returns the value at `path`; null if there is none, or if it is JSON's null.
static Attribute valueAt(DictionaryAttr config, StringRef path) {
  auto [outer, inner] = path.split('.');
  Attribute value = config.get(outer);
  if (!inner.empty()) {
    auto object = dyn_cast_or_null<DictionaryAttr>(value);
    return object ? valueAt(object, inner) : Attribute();
  }
  return isa_and_nonnull<UnitAttr>(value) ? Attribute() : value;
}

/// Returns the number in an attribute; none for booleans and for what is no number.
static std::optional<double> numberIn(Attribute value) {
  if (auto number = dyn_cast<FloatAttr>(value))
    return number.getValueAsDouble();
  auto integer = dyn_cast<IntegerAttr>(value);
  if (!integer || isa<BoolAttr>(value))
    return std::nullopt;
  return integer.getValue().roundToDouble(/*isSigned=*/!integer.getType().isUnsignedInteger());
}

/// Returns the name that factsOf() has for an activation; empty if it has none.
static StringRef canonicalActivation(StringRef name) {
  const auto *entry =
      llvm::find_if(kActivations, [&](const ActivationName &each) { return each.name == name; });
  return entry == std::end(kActivations) ? StringRef() : entry->sameAs;
}

/// Whether the configuration's value is what the model shows. Numbers are compared as f32, in which steps use
/// them, of whichever type they are written.
static bool agrees(Attribute given, Attribute shown) {
  if (auto activation = dyn_cast<StringAttr>(shown)) {
    auto name = dyn_cast<StringAttr>(given);
    const StringRef canonical = name ? canonicalActivation(name) : StringRef();
    return name && (canonical.empty() || canonical == activation.getValue());
  }
  const std::optional<double> number = numberIn(shown), other = numberIn(given);
  return number ? other && inF32(*number) == inF32(*other) : given == shown;
}

/// Returns an attribute as it is written in an export, where a float needs a point.
static std::string textOf(Attribute value) {
  std::string text;
  if (auto number = dyn_cast<FloatAttr>(value)) {
    text = formatNumber(number.getValueAsDouble());
    if (!StringRef(text).contains('.'))
      text.insert(std::min(text.find('e'), text.size()), ".0");
    return text;
  }
  llvm::raw_string_ostream stream(text);
  value.print(stream, /*elideType=*/true);
  return text;
}

// --- The comparison ---

/// Reports an error about `key`, with a note at the op of the model.
static LogicalResult reportDifference(Operation *exporter, const Twine &given, const Known &known,
                                      const Twine &remedy) {
  InFlightDiagnostic error = exporter->emitError("export \"")
                             << kConfigFile << "\": " << given << ", but " << known.fact.text << "; "
                             << remedy << " or change the model";
  error.attachNote(known.loc) << "the model's op is here";
  return error;
}

/// Verifies what a type of model says of attention without a key: the mask and the scale of scores.
static LogicalResult checkModelType(Operation *exporter, DictionaryAttr config,
                                    const Architecture &architecture) {
  auto type = config.getAs<StringAttr>("model_type");
  if (!type || !llvm::is_contained(kDecoders, type.getValue()))
    return success();
  const auto report = [&](const Twine &does, const Known &known) {
    return reportDifference(exporter, "model_type is \"" + type.getValue() + "\", which " + does, known,
                            "write another model_type,");
  };
  if (const Known *causal = architecture.find(Feature::causal);
      causal && !cast<BoolAttr>(causal->fact.value).getValue())
    return report("has causal attention", *causal);
  const Known *scale = architecture.find(Feature::scoreScale);
  const Known *width = architecture.find(Feature::headWidth);
  if (!scale || !width || llvm::any_of(kScaleKeys, [&](StringRef key) { return config.contains(key); }))
    return success();
  const int64_t headWidth = cast<IntegerAttr>(width->fact.value).getInt();
  const double expected = 1 / std::sqrt(double(headWidth));
  constexpr double kTolerance = 1e-4; // scales are written with few digits
  if (std::abs(*numberIn(scale->fact.value) - expected) <= kTolerance * expected)
    return success();
  return report("scales scores by 1/sqrt(" + Twine(headWidth) + ")", *scale);
}

LogicalResult trainc::checkExportedConfig(const Binding &binding, train::EntryOp entry,
                                          const Forward &forward) {
  nn::ModelOp model = binding.model;
  train::ProgramOp program = binding.program;
  const DictionaryAttr ofModel = model.getExportsAttr(), all = program.getExportsAttr();
  auto config = all ? all.getAs<DictionaryAttr>(kConfigFile) : DictionaryAttr();
  if (!config)
    return success();
  Operation *exporter = ofModel && ofModel.contains(kConfigFile) ? model.getOperation() : program;
  const Architecture architecture(entry, forward);
  for (const ConfigKey &key : kKeys) {
    const Known *known = architecture.find(key.feature);
    const Attribute given = valueAt(config, key.path);
    if (known && given && !agrees(given, known->fact.value))
      return reportDifference(exporter, key.path + " is " + textOf(given), *known,
                              "write " + key.path.substr(key.path.rfind('.') + 1) + " = " +
                                  textOf(known->fact.value));
  }
  return checkModelType(exporter, config, architecture);
}

// --- Slips ---

/// Returns where `loc` is in the text. Uses of a block have one location there.
static Location textLocation(Location loc) {
  auto line = loc->findInstanceOf<FileLineColLoc>();
  return line ? Location(line) : loc;
}

/// Warns that `op` drops the same weights of attention as `earlier`.
static void warnOfSharedDropoutKey(Operation *op, Operation *earlier) {
  const bool isSameText = textLocation(op->getLoc()) == textLocation(earlier->getLoc());
  InFlightDiagnostic warning =
      op->emitWarning("this attention drops the same weights as ")
      << (isSameText ? "the same attention of another use of its block" : "another attention")
      << ", because both have the same dropout_key; give each attention a key of its own with nn.dropout_key"
      << (isSameText ? " in the block" : "");
  if (!isSameText)
    warning.attachNote(earlier->getLoc()) << "the other attention is here";
}

void trainc::warnOfSlips(const Binding &binding, train::EntryOp entry) {
  nn::ModelOp model = binding.model;
  for (auto [argument, column] :
       llvm::zip(model.getBody().getArguments(), model.getColumns().getAsValueRange<StringAttr>()))
    if (argument.use_empty())
      emitWarning(argument.getLoc()) << "nothing in the model reads the column '" << column << "'; use %"
                                     << column << ", or remove it from the model's arguments";
  DenseSet<Location> seen, sharing;
  entry.walk([&](Operation *op) {
    const Location place = textLocation(op->getLoc());
    if (nn::isAttention(op) && seen.insert(place).second)
      nn::warnOfRotatedHeads(op);
    if (Operation *earlier = nn::earlierUserOfDropoutKey(op); earlier && sharing.insert(place).second)
      warnOfSharedDropoutKey(op, earlier);
  });
}
