#include "dialects/Train/ProgramSettings.h"

#include "dialects/NN/Syntax.h"
#include "dialects/Train/Sharding.h"

#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::train;

const ProgramWord *trainc::train::findProgramWord(StringRef word) {
  const auto *found =
      llvm::find_if(kProgramWords, [&](const ProgramWord &each) { return StringRef(each.word) == word; });
  return found == std::end(kProgramWords) ? nullptr : found;
}

SmallVector<StringRef> trainc::train::choicesOf(const ProgramWord &word) {
  SmallVector<StringRef> values;
  StringRef(word.values).split(values, '|');
  return values;
}

LogicalResult trainc::train::checkChoice(const ProgramWord &word, StringRef value,
                                         llvm::function_ref<InFlightDiagnostic()> error) {
  const SmallVector<StringRef> values = choicesOf(word);
  SmallVector<StringRef> given = {value};
  if (word.kind == ValueKind::Words) {
    given.clear();
    value.split(given, ',');
  }
  const auto *unknown =
      llvm::find_if(given, [&](StringRef each) { return !llvm::is_contained(values, each); });
  if (unknown == given.end())
    return success();
  return error() << "expected " << llvm::join(values, " or ") << ", found '" << *unknown << "'";
}

// --- Writing ---

/// Converts an option's text to the program's attribute. The text was checked when the option was read.
static Attribute valueOf(Builder builder, const ProgramWord &word, StringRef text) {
  switch (word.kind) {
  case ValueKind::Number:
  case ValueKind::Bytes: {
    int64_t number = 0;
    [[maybe_unused]] const bool failed = text.getAsInteger(10, number);
    assert(!failed && "an option that is a number");
    return builder.getI64IntegerAttr(number);
  }
  case ValueKind::Truth:
    return builder.getBoolAttr(text == "true");
  case ValueKind::Choice:
  case ValueKind::Words:
  case ValueKind::Names:
  case ValueKind::Shares:
  case ValueKind::Wrap:
    return builder.getStringAttr(text);
  }
  llvm_unreachable("unknown kind of value");
}

static void setSource(ProgramOp program, StringRef word, Attribute source) {
  NamedAttrList sources(program.getSourcesAttr());
  sources.set(word, source);
  program.setSourcesAttr(sources.getDictionary(program.getContext()));
}

/// Whether the setting's source is a text (not a line of the model) that begins with `with`.
static bool sourceBegins(ProgramOp program, StringRef word, StringRef with) {
  DictionaryAttr sources = program.getSourcesAttr();
  auto source = sources ? sources.getAs<StringAttr>(word) : StringAttr();
  return source && source.getValue().starts_with(with);
}

bool trainc::train::isFromOption(ProgramOp program, StringRef word) {
  return sourceBegins(program, word, "--");
}

static constexpr StringLiteral kDerived = "derived: ";

bool trainc::train::isDerived(ProgramOp program, StringRef word) {
  return sourceBegins(program, word, kDerived);
}

/// Words of `sharding` are collected, because apply() checks them together.
static void setValue(ProgramOp program, const ProgramWord &word, Attribute value, NamedAttrList &sharding) {
  if (word.ofSharding)
    sharding.set(StringRef(word.word), value);
  else
    program->setAttr(StringRef(word.word), value);
}

static NamedAttrList shardingWords(ProgramOp program) {
  NamedAttrList words;
  if (ShardingAttr given = program.getShardingAttr())
    words.append(given.getWords());
  return words;
}

static LogicalResult setSharding(ProgramOp program, NamedAttrList &words) {
  if (words.empty())
    return success();
  auto sharding = ShardingAttr::getChecked([&] { return program.emitError("sharding: "); },
                                           program.getContext(), words.getDictionary(program.getContext()));
  if (sharding)
    program.setShardingAttr(sharding);
  return success(bool(sharding));
}

LogicalResult trainc::train::applyOptions(ProgramOp program, ArrayRef<GivenSetting> given) {
  Builder builder(program.getContext());
  NamedAttrList sharding = shardingWords(program);
  for (const GivenSetting &setting : given) {
    const ProgramWord *word = findProgramWord(setting.word);
    assert(word && "a word of the table");
    setValue(program, *word, valueOf(builder, *word, setting.value), sharding);
    setSource(program, setting.word, builder.getStringAttr(StringRef(word->option)));
  }
  if (program.getSeqLen() && !program.getMicroBatch())
    return program.emitError("the size is missing: give --micro-batch, or write `batch B` in train.program");
  return failure(failed(setSharding(program, sharding)) || failed(verify(program)));
}

void trainc::train::setDerived(ProgramOp program, StringRef name, Attribute value, StringRef from) {
  const ProgramWord *word = findProgramWord(name);
  assert(word && "a word of the table");
  NamedAttrList sharding = shardingWords(program);
  setValue(program, *word, value, sharding);
  [[maybe_unused]] LogicalResult set = setSharding(program, sharding);
  assert(succeeded(set) && "the compiler decides what is allowed");
  setSource(program, name, StringAttr::get(program.getContext(), kDerived + from));
}

void trainc::train::setDerived(ProgramOp program, ArrayRef<GivenSetting> chosen, StringRef from) {
  const Builder builder(program.getContext());
  for (const GivenSetting &setting : chosen) {
    const ProgramWord *word = findProgramWord(setting.word);
    assert(word && "a word of the table");
    setDerived(program, setting.word, valueOf(builder, *word, setting.value), from);
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

static SettingInForce inForce(ProgramOp program, const ProgramWord &word, DictionaryAttr sharding) {
  const StringRef name(word.word);
  Attribute value = word.ofSharding ? sharding.get(name) : program->getAttr(name);
  std::string text = value ? textOf(value) : std::string(word.defaultValue);
  return {
      name.str(), std::move(text),
      sourceOf(program, name, word.derived.empty() ? "default" : (kDerived + StringRef(word.derived)).str())};
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
                        sourceText(line.getValue())});
}

std::vector<SettingInForce> trainc::train::settingsInForce(ProgramOp program) {
  std::vector<SettingInForce> settings;
  auto add = [&](StringRef word, Attribute value, StringRef otherwise) {
    settings.push_back(
        {word.str(), value ? textOf(value) : otherwise.str(), sourceOf(program, word, "default")});
  };
  add("model", program.getModelAttr(), "");
  add("optimizer", program.getOptimizer(), "");
  add("schedule", program.getSchedule(), "");
  add("clip", program.getClipAttr(), "none");
  addGroups(program, settings);
  const DictionaryAttr sharding = wordsOfSharding(program);
  for (const ProgramWord &word : kProgramWords)
    settings.push_back(inForce(program, word, sharding));
  return settings;
}
