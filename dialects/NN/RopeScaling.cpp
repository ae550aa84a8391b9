#include "dialects/NN/RopeScaling.h"

#include "base/nearest_word.h"
#include "dialects/NN/Syntax.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

namespace {

/// A key in the brackets of a scaling.
struct Key {
  enum Kind { Number, List, Word };
  std::string name;
  Kind kind = Number;
  bool isRequired = true;
};

/// A kind of scaling.
struct Form {
  std::string kind;
  std::vector<Key> keys;
};

const std::vector<Form> &forms() {
  static const std::vector<Form> all = {
      {"linear", {{"factor"}}},
      {"llama3", {{"factor"}, {"low"}, {"high"}, {"original"}}},
      {"yarn",
       {{"factor"},
        {"original"},
        {"beta_fast", Key::Number, false},
        {"beta_slow", Key::Number, false},
        {"attention_factor", Key::Number, false},
        {"untruncated", Key::Word, false}}},
      {"longrope",
       {{"factors", Key::List, false},
        {"short", Key::List, false},
        {"long", Key::List, false},
        {"original", Key::Number, false},
        {"attention_factor", Key::Number, false}}},
      {"proportional", {{"share"}}},
  };
  return all;
}

template <typename Named> std::vector<std::string> namesOf(const std::vector<Named> &all) {
  std::vector<std::string> names;
  for (const Named &each : all)
    if constexpr (std::is_same_v<Named, Form>)
      names.push_back(each.kind);
    else
      names.push_back(each.name);
  return names;
}

const Form *findForm(StringRef kind) {
  for (const Form &form : forms())
    if (form.kind == kind)
      return &form;
  return nullptr;
}

const Key *findKey(const Form &form, StringRef name) {
  for (const Key &key : form.keys)
    if (key.name == name)
      return &key;
  return nullptr;
}

/// The numbers of a key: one, or those of a list; none if it is absent or has another type.
SmallVector<double> numbersOf(DictionaryAttr keys, StringRef name) {
  const Attribute value = keys.get(name);
  if (auto number = dyn_cast_or_null<FloatAttr>(value))
    return {number.getValueAsDouble()};
  if (auto list = dyn_cast_or_null<DenseF64ArrayAttr>(value))
    return SmallVector<double>(list.asArrayRef());
  return {};
}

double numberOf(RopeScalingAttr scaling, StringRef name, double otherwise = 0) {
  const SmallVector<double> numbers = numbersOf(scaling.getKeys(), name);
  return numbers.empty() ? otherwise : numbers.front();
}

ParseResult parseValue(AsmParser &parser, Key::Kind kind, Attribute &value) {
  Builder &builder = parser.getBuilder();
  if (kind == Key::Word) {
    value = builder.getUnitAttr();
    return success();
  }
  if (kind == Key::Number) {
    double number = 0;
    if (parseNumber(parser, number))
      return failure();
    value = builder.getF64FloatAttr(number);
    return success();
  }
  DenseF64ArrayAttr list;
  if (parseNumbers(parser, list))
    return failure();
  value = list;
  return success();
}

} // namespace

// --- Syntax ---

ParseResult nn::parseRopeScaling(AsmParser &parser, RopeScalingAttr &scaling) {
  const SMLoc loc = parser.getCurrentLocation();
  StringRef kind;
  if (parser.parseKeyword(&kind))
    return failure();
  const Form *form = findForm(kind);
  if (!form)
    return parser.emitError(loc) << "scaling: " << describeUnknownWord(kind, namesOf(forms()));
  NamedAttrList keys;
  const auto parseKey = [&]() -> ParseResult {
    const SMLoc at = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    const Key *key = findKey(*form, name);
    if (!key)
      return parser.emitError(at) << "scaling " << kind << ": "
                                  << describeUnknownWord(name, namesOf(form->keys));
    if (keys.get(name))
      return parser.emitError(at) << "scaling " << kind << ": `" << name << "` is given twice";
    Attribute value;
    if (parseValue(parser, key->kind, value))
      return failure();
    keys.append(name, value);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseKey))
    return failure();
  scaling = RopeScalingAttr::getChecked([&] { return parser.emitError(loc); }, parser.getContext(), kind,
                                        keys.getDictionary(parser.getContext()));
  return success(scaling != nullptr);
}

void nn::printRopeScaling(AsmPrinter &printer, Operation *, RopeScalingAttr scaling) {
  printer << scaling.getKind() << "(";
  const char *comma = "";
  for (const Key &key : findForm(scaling.getKind())->keys) {
    if (!scaling.getKeys().get(key.name))
      continue;
    printer << comma << key.name;
    comma = ", ";
    const SmallVector<double> numbers = numbersOf(scaling.getKeys(), key.name);
    if (key.kind == Key::List)
      printNumbers(printer, numbers);
    else if (key.kind == Key::Number)
      printer << " " << formatNumber(numbers.front());
  }
  printer << ")";
}

Attribute RopeScalingAttr::parse(AsmParser &parser, Type) {
  RopeScalingAttr scaling;
  if (parser.parseLess() || parseRopeScaling(parser, scaling) || parser.parseGreater())
    return {};
  return scaling;
}

void RopeScalingAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printRopeScaling(printer, nullptr, *this);
  printer << ">";
}

LogicalResult RopeScalingAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, StringRef kind,
                                      DictionaryAttr keys) {
  const auto error = [&] { return emitError() << "scaling " << kind << ": "; };
  const Form *form = findForm(kind);
  if (!form)
    return emitError() << "scaling: " << describeUnknownWord(kind, namesOf(forms()));
  for (NamedAttribute each : keys)
    if (!findKey(*form, each.getName()))
      return error() << describeUnknownWord(each.getName().strref(), namesOf(form->keys));
  const auto number = [&](StringRef name, double otherwise) {
    const SmallVector<double> numbers = numbersOf(keys, name);
    return numbers.empty() ? otherwise : numbers.front();
  };
  for (const Key &key : form->keys) {
    const Attribute value = keys.get(key.name);
    if (!value && key.isRequired)
      return error() << "lacks `" << key.name << "`";
    if (!value)
      continue;
    const bool fits = key.kind == Key::Number ? isa<FloatAttr>(value)
                      : key.kind == Key::List ? isa<DenseF64ArrayAttr>(value)
                                              : isa<UnitAttr>(value);
    if (!fits)
      return error() << "`" << key.name << "` has another type, " << value;
    for (double each : numbersOf(keys, key.name))
      if (!(std::isfinite(inF32(each)) && each > 0))
        return error() << "`" << key.name << "` must be above 0, found " << formatInF32(each);
  }
  const auto has = [&](StringRef name) { return bool(keys.get(name)); };
  if (kind == "longrope" && !(has("factors") ? !has("short") && !has("long") && !has("original")
                                             : has("short") && has("long") && has("original")))
    return error() << "expected either `factors`, or `short`, `long` and `original`";
  if (kind == "longrope" && number("original", 1) != std::floor(number("original", 1)))
    return error() << "`original` must be a whole number of tokens, found "
                   << formatNumber(number("original", 1));
  if (kind == "llama3" && number("low", 0) >= number("high", 0))
    return error() << "`low` must be below `high`, found " << formatNumber(number("low", 0)) << " and "
                   << formatNumber(number("high", 0));
  if (kind == "yarn" && number("beta_slow", 1) >= number("beta_fast", 32))
    return error() << "`beta_slow` must be below `beta_fast`, found " << formatNumber(number("beta_slow", 1))
                   << " and " << formatNumber(number("beta_fast", 32));
  if (kind == "proportional" && number("share", 0) > 1)
    return error() << "`share` must be at most 1, found " << formatNumber(number("share", 0));
  return success();
}

// --- Tables ---

/// Wavelengths below original/high are kept, and those above original/low are multiplied by the factor.
/// Between them, the frequency is blended linearly in original/wavelength.
static void scaleLlama3(RopeTable &table, RopeScalingAttr scaling) {
  const double factor = numberOf(scaling, "factor"), low = numberOf(scaling, "low"),
               high = numberOf(scaling, "high"), original = numberOf(scaling, "original");
  for (double &frequency : table.frequencies) {
    const double turns = original * frequency / (2 * llvm::numbers::pi); // within the original length
    const double kept = std::clamp((turns - low) / (high - low), 0.0, 1.0);
    frequency *= kept + (1 - kept) / factor;
  }
}

/// Pairs that turn at least beta_fast times within the original length keep their frequency, and those that
/// turn at most beta_slow times have it divided by the factor. Between them, the share falls linearly in the
/// number of the pair.
static void scaleYarn(RopeTable &table, double theta, int64_t rotary, RopeScalingAttr scaling) {
  const double factor = numberOf(scaling, "factor"), original = numberOf(scaling, "original");
  const auto pairWithTurns = [&](double turns) {
    return double(rotary) * std::log(original / (turns * 2 * llvm::numbers::pi)) / (2 * std::log(theta));
  };
  double first = pairWithTurns(numberOf(scaling, "beta_fast", 32)),
         last = pairWithTurns(numberOf(scaling, "beta_slow", 1));
  if (!scaling.getKeys().get("untruncated")) {
    first = std::floor(first);
    last = std::ceil(last);
  }
  first = std::max(first, 0.0);
  last = std::min(last, double(rotary - 1));
  if (first == last)
    last += 0.001;
  for (auto [pair, frequency] : llvm::enumerate(table.frequencies)) {
    const double scaled = std::clamp((double(pair) - first) / (last - first), 0.0, 1.0);
    frequency *= (1 - scaled) + scaled / factor;
  }
  table.factor = numberOf(scaling, "attention_factor", factor <= 1 ? 1 : 0.1 * std::log(factor) + 1);
}

RopeScalingAttr nn::forLength(RopeScalingAttr scaling, int64_t length) {
  const DictionaryAttr keys = scaling.getKeys();
  if (!keys.get("short"))
    return scaling;
  NamedAttrList chosen;
  chosen.append("factors", keys.get(double(length) > numberOf(scaling, "original") ? "long" : "short"));
  if (Attribute factor = keys.get("attention_factor"))
    chosen.append("attention_factor", factor);
  return RopeScalingAttr::get(scaling.getContext(), scaling.getKind(),
                              chosen.getDictionary(scaling.getContext()));
}

RopeTable nn::ropeTable(double theta, int64_t rotary, RopeScalingAttr scaling) {
  RopeTable table;
  for (int64_t pair = 0; pair < rotary / 2; ++pair)
    table.frequencies.push_back(std::pow(theta, -2.0 * double(pair) / double(rotary)));
  const StringRef kind = scaling ? scaling.getKind() : "";
  if (kind == "linear")
    for (double &frequency : table.frequencies)
      frequency /= numberOf(scaling, "factor");
  if (kind == "llama3")
    scaleLlama3(table, scaling);
  if (kind == "yarn")
    scaleYarn(table, theta, rotary, scaling);
  if (kind == "longrope") {
    const SmallVector<double> factors = numbersOf(forLength(scaling, 0).getKeys(), "factors");
    for (auto [pair, frequency] : llvm::enumerate(table.frequencies))
      frequency /= pair < factors.size() ? factors[pair] : 1;
    table.factor = numberOf(scaling, "attention_factor", 1);
  }
  if (kind == "proportional") {
    const auto turning = size_t(numberOf(scaling, "share") * double(rotary) / 2);
    for (double &frequency : MutableArrayRef(table.frequencies).drop_front(turning))
      frequency = 0;
  }
  return table;
}
