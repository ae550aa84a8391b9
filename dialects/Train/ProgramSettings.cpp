#include "dialects/Train/ProgramSettings.h"

#include "base/nearest_word.h"
#include "dialects/NN/Syntax.h"
#include "dialects/Train/Sharding.h"
#include "plan/settings/lists.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::train;

// --- Values ---

Attribute trainc::train::valueIn(ProgramOp program, const Setting &setting) {
  auto settings = program->getAttrOfType<SettingsAttr>(attributeOf(setting.theme));
  return settings ? settings.getValues().get(StringRef(setting.name)) : Attribute();
}

bool trainc::train::hasSetting(const ProgramOp &program, const Setting &setting) {
  return bool(valueIn(program, setting));
}

std::optional<int64_t> trainc::train::settingNumber(const ProgramOp &program, const Setting &setting) {
  const Attribute value = valueIn(program, setting);
  return value ? std::optional(cast<IntegerAttr>(value).getInt()) : std::nullopt;
}

std::optional<std::string_view> trainc::train::settingText(const ProgramOp &program, const Setting &setting) {
  const Attribute value = valueIn(program, setting);
  return value ? std::optional<std::string_view>(cast<StringAttr>(value).getValue()) : std::nullopt;
}

static LogicalResult checkNumber(const Setting &setting, Attribute value, EmitError error) {
  auto number = dyn_cast<IntegerAttr>(value);
  if (!number || !number.getType().isSignlessInteger(64))
    return error() << StringRef(setting.name) << ": expected a number, found " << value;
  if (setting.min <= number.getInt() && number.getInt() <= setting.max)
    return success();
  InFlightDiagnostic message = error() << StringRef(setting.name);
  if (setting.max == INT64_MAX)
    message << " must be at least " << setting.min;
  else
    message << " must lie between " << setting.min << " and " << setting.max;
  return message << ", found " << number.getInt();
}

/// Checks each word of a Choice or of Words.
static LogicalResult checkWords(const Setting &setting, StringRef value, EmitError error) {
  SmallVector<StringRef> given = {value};
  if (setting.kind == ValueKind::Words) {
    given.clear();
    value.split(given, ',');
  }
  for (StringRef each : given)
    if (setting.indexOf(each) == setting.wordCount())
      return error() << StringRef(setting.name) << ": " << describeUnknownWord(each, setting.words());
  return success();
}

LogicalResult trainc::train::checkValue(const Setting &setting, Attribute value, EmitError error) {
  if (setting.kind == ValueKind::Number || setting.kind == ValueKind::Bytes)
    return checkNumber(setting, value, error);
  auto text = dyn_cast<StringAttr>(value);
  if (!text)
    return error() << StringRef(setting.name) << ": expected a text, found " << value;
  if (setting.kind == ValueKind::Fraction)
    return fractionIn(text.getValue()) ? success()
                                       : error() << StringRef(setting.name) << ": expected "
                                                 << StringRef(kExpectedFraction) << ", found '"
                                                 << text.getValue() << "'";
  if (!setting.isList())
    return checkWords(setting, text, error);
  std::string list = text.str();
  if (const std::string problem = tidyList(setting, list); !problem.empty())
    return error() << StringRef(setting.name) << ": " << problem;
  if (list != text.getValue()) // the parser and options have normalised it
    return error() << StringRef(setting.name) << ": expected no blanks around commas, '" << list
                   << "', found '" << text.getValue() << "'";
  return setting.kind == ValueKind::Words ? checkWords(setting, text, error) : success();
}

LogicalResult SettingsAttr::verify(EmitError error, DictionaryAttr values) {
  for (NamedAttribute value : values) {
    const Setting *setting = findSetting(value.getName().strref());
    if (!setting)
      return error() << "there is no setting " << value.getName();
    if (failed(checkValue(*setting, value.getValue(), error)))
      return failure();
  }
  return success();
}

// --- Writing ---

/// Converts an option's text to an attribute. The text was checked when the option was read.
static Attribute valueOf(MLIRContext *context, const Setting &setting, StringRef text) {
  Builder builder(context);
  if (setting.kind != ValueKind::Number && setting.kind != ValueKind::Bytes)
    return builder.getStringAttr(text);
  int64_t number = 0;
  [[maybe_unused]] const bool failed = text.getAsInteger(10, number);
  assert(!failed && "an option that is a number");
  return builder.getI64IntegerAttr(number);
}

/// Fails with an error at the program if the value is invalid.
static LogicalResult setValue(ProgramOp program, const Setting &setting, Attribute value) {
  NamedAttrList values;
  if (auto before = program->getAttrOfType<SettingsAttr>(attributeOf(setting.theme)))
    values.append(before.getValues());
  values.set(StringRef(setting.name), value);
  auto settings = SettingsAttr::getChecked([&] { return program.emitError(); }, program.getContext(),
                                           values.getDictionary(program.getContext()));
  if (settings)
    program->setAttr(attributeOf(setting.theme), settings);
  return success(bool(settings));
}

void trainc::train::setValue(ProgramOp program, const Setting &setting, const Twine &value) {
  SmallString<32> text;
  [[maybe_unused]] const LogicalResult set =
      ::setValue(program, setting, valueOf(program.getContext(), setting, value.toStringRef(text)));
  assert(succeeded(set) && "the compiler decides what is allowed");
}

static void setSource(ProgramOp program, StringRef name, Attribute source) {
  NamedAttrList sources(program.getSourcesAttr());
  sources.set(name, source);
  program.setSourcesAttr(sources.getDictionary(program.getContext()));
}

/// Whether the setting's source is a text (not a line of the model) that begins with `with`.
static bool sourceBegins(ProgramOp program, StringRef name, StringRef with) {
  DictionaryAttr sources = program.getSourcesAttr();
  auto source = sources ? sources.getAs<StringAttr>(name) : StringAttr();
  return source && source.getValue().starts_with(with);
}

bool trainc::train::isFromOption(ProgramOp program, StringRef name) {
  return sourceBegins(program, name, "--");
}

static constexpr StringLiteral kDerived = "derived: ";

bool trainc::train::isDerived(ProgramOp program, StringRef name) {
  return sourceBegins(program, name, kDerived);
}

std::string trainc::train::bothNames(const Setting &setting) {
  return std::string(setting.name) + " (" + setting.option() + ")";
}

LogicalResult trainc::train::applyOptions(ProgramOp program, ArrayRef<GivenSetting> given) {
  Builder builder(program.getContext());
  for (const GivenSetting &option : given) {
    const Setting *setting = findSetting(option.word);
    if (!setting)
      return program.emitError() << "there is no setting '" << option.word << "'";
    if (failed(::setValue(program, *setting, valueOf(program.getContext(), *setting, option.value))))
      return failure();
    setSource(program, option.word, builder.getStringAttr(setting->option()));
  }
  if (kSeqLen.isSet(program) && !kMicroBatch.isSet(program))
    return program.emitError("the size is missing: give --micro-batch, or write `batch B` in train.program");
  return verify(program);
}

void trainc::train::setDerived(ProgramOp program, const Setting &setting, const Twine &value,
                               StringRef from) {
  setValue(program, setting, value);
  setSource(program, setting.name, StringAttr::get(program.getContext(), kDerived + from));
}

void trainc::train::setDerived(ProgramOp program, ArrayRef<GivenSetting> chosen, StringRef from) {
  for (const GivenSetting &each : chosen) {
    const Setting *setting = findSetting(each.word);
    assert(setting && "a setting of the table");
    setDerived(program, *setting, each.value, from);
  }
}

// --- Reading ---

/// Returns `adamw(lr 6e-4)` of `optimizer<adamw(lr 6e-4)>`.
static std::string insideOf(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  attribute.printStripped(stream);
  const StringRef whole(text);
  return whole.slice(whole.find('<') + 1, whole.rfind('>')).str();
}

static std::string textOf(Attribute value) {
  if (auto word = dyn_cast<StringAttr>(value))
    return word.str();
  if (auto truth = dyn_cast<BoolAttr>(value))
    return truth.getValue() ? "true" : "false";
  if (auto number = dyn_cast<IntegerAttr>(value))
    return std::to_string(number.getInt());
  if (auto real = dyn_cast<FloatAttr>(value))
    return formatNumber(real.getValueAsDouble());
  if (auto symbol = dyn_cast<FlatSymbolRefAttr>(value))
    return "@" + symbol.getValue().str();
  return insideOf(value);
}

/// Returns "gpt.mlir:12", or the text of another source.
static std::string sourceText(Attribute source) {
  if (auto text = dyn_cast<StringAttr>(source))
    return text.str();
  auto place = dyn_cast<FileLineColLoc>(source);
  if (!place)
    return "unknown";
  return place.getFilename().str() + ":" + std::to_string(place.getLine());
}

static std::string sourceOf(ProgramOp program, StringRef word, StringRef otherwise) {
  DictionaryAttr sources = program.getSourcesAttr();
  Attribute source = sources ? sources.get(word) : Attribute();
  return source ? sourceText(source) : otherwise.str();
}

/// Returns the value in force as text; empty if it is no constant and not that of another setting.
static std::string textInForce(ProgramOp program, const Setting &setting, DictionaryAttr sharding) {
  const Attribute computed = sharding.get(StringRef(setting.name)),
                  value = computed ? computed : valueIn(program, setting);
  const Setting *source = findSetting(setting.derived);
  return value    ? textOf(value)
         : source ? textInForce(program, *source, sharding)
                  : std::string(setting.defaultValue);
}

static SettingInForce inForce(ProgramOp program, const Setting &setting, DictionaryAttr sharding) {
  const StringRef name(setting.name);
  return {name.str(), textInForce(program, setting, sharding),
          sourceOf(program, name,
                   setting.derived.empty() ? "default" : (kDerived + StringRef(setting.derived)).str()),
          setting.changesNumbers};
}

static constexpr StringLiteral kGroupSource = "group ";

NamedAttribute trainc::train::groupSource(GroupAttr group, LocationAttr line) {
  return {StringAttr::get(group.getContext(), kGroupSource + insideOf(group)), line};
}

/// Adds groups in source order. Groups are read from the model's lines, because the program's own groups may
/// be those of flat states.
static void addGroups(ProgramOp program, std::vector<SettingInForce> &settings) {
  SmallVector<NamedAttribute> lines;
  for (NamedAttribute source :
       program.getSourcesAttr() ? program.getSourcesAttr().getValue() : ArrayRef<NamedAttribute>())
    if (source.getName().strref().starts_with(kGroupSource) && isa<FileLineColLoc>(source.getValue()))
      lines.push_back(source);
  auto lineOf = [](const NamedAttribute &source) {
    auto place = cast<FileLineColLoc>(source.getValue());
    return std::pair(place.getLine(), place.getColumn());
  };
  llvm::sort(lines, [&](const auto &a, const auto &b) { return lineOf(a) < lineOf(b); });
  for (const NamedAttribute &line : lines)
    settings.push_back({"group", line.getName().strref().drop_front(kGroupSource.size()).str(),
                        sourceText(line.getValue()), /*changesNumbers=*/true});
}

std::vector<SettingInForce> trainc::train::settingsInForce(ProgramOp program) {
  std::vector<SettingInForce> settings;
  auto add = [&](StringRef word, Attribute value, StringRef otherwise, bool changesNumbers) {
    settings.push_back({word.str(), value ? textOf(value) : otherwise.str(),
                        sourceOf(program, word, "default"), changesNumbers});
  };
  // Checkpoints record the model and the schedule themselves.
  add("model", program.getModelAttr(), "", /*changesNumbers=*/false);
  add("optimizer", program.getOptimizer(), "", /*changesNumbers=*/true);
  add("schedule", program.getSchedule(), "", /*changesNumbers=*/false);
  add("clip", program.getClipAttr(), "none", /*changesNumbers=*/true);
  addGroups(program, settings);
  const DictionaryAttr sharding = shardingInForce(program);
  for (const Setting *setting : kSettings)
    settings.push_back(inForce(program, *setting, sharding));
  return settings;
}
