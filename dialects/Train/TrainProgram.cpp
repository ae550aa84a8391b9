// Syntax and verification of train.program.
#include "base/nearest_word.h"
#include "dialects/NN/Syntax.h"
#include "dialects/Train/ProgramLines.h"
#include "dialects/Train/TrainSyntax.h"
#include "plan/facts/schedules.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <cmath>
#include <map>

using namespace mlir;
using namespace trainc;
using namespace trainc::train;

/// Whether `batch B x T` sets the setting.
static bool isOfBatch(const Setting &setting) { return &setting == &kMicroBatch || &setting == &kSeqLen; }

/// Returns the words that begin lines of train.program.
static SmallVector<StringRef> lineWords() {
  SmallVector<StringRef> words;
  for (const ProgramLine &line : kProgramLines)
    words.push_back(line.word);
  for (const Setting *setting : kSettings)
    if (!isOfBatch(*setting))
      words.push_back(setting->name);
  return words;
}

namespace {
/// Parses the lines between the braces into attributes.
class ProgramParser {
public:
  ProgramParser(OpAsmParser &parser, OperationState &state) : parser(parser), state(state) {}
  ParseResult parse();

private:
  ParseResult parseLine(StringRef word, SMLoc loc);
  ParseResult parseSetting(const Setting &setting, SMLoc loc);
  ParseResult parseBatch(SMLoc loc);
  ParseResult reportStranger(StringRef word, SMLoc loc);
  void noteSources();
  ParseResult checkLines();
  template <typename Attr, typename Parser>
  ParseResult parseAttr(StringRef name, ParseResult (*parse)(Parser &, Attr &));

  OpAsmParser &parser;
  OperationState &state;
  llvm::StringMap<SMLoc> seen; ///< source location of each word
  SmallVector<Attribute> groups;
  std::map<Theme, NamedAttrList> settings;
  NamedAttrList exports;
  NamedAttrList sources; ///< source location of each setting
};

/// Starts an error about the line of a word.
using ErrorAt = llvm::function_ref<InFlightDiagnostic(StringRef word)>;
} // namespace

/// Verifies rules that concern several lines, and those that no attribute verifies.
static LogicalResult checkNumbers(DictionaryAttr program, ErrorAt errorAt) {
  auto norm = program.getAs<FloatAttr>("clip");
  double clip = norm ? norm.getValueAsDouble() : 1;
  if (!(inF32(clip) > 0 && std::isfinite(inF32(clip))))
    return errorAt("clip") << "clip must be " << (std::isfinite(inF32(clip)) ? "above 0" : "finite")
                           << ", found " << formatInF32(clip) << "; leave it out not to clip";
  double peak = program.getAs<OptimizerAttr>("optimizer").getLr().getValueAsDouble(),
         minimum = program.getAs<ScheduleAttr>("schedule").number("minimum");
  if (minimum > peak)
    return errorAt("schedule") << "the schedule's minimum " << formatNumber(minimum)
                               << " exceeds the optimizer's lr " << formatNumber(peak);
  return success();
}

template <typename Attr, typename Parser>
ParseResult ProgramParser::parseAttr(StringRef name, ParseResult (*parse)(Parser &, Attr &)) {
  Attr attribute;
  if (parse(parser, attribute))
    return failure();
  state.addAttribute(name, attribute);
  return success();
}

/// Parses `B`, or `B x T`.
ParseResult ProgramParser::parseBatch(SMLoc loc) {
  if (parseSetting(kMicroBatch, loc))
    return failure();
  return succeeded(parser.parseOptionalKeyword("x")) ? parseSetting(kSeqLen, loc) : success();
}

ParseResult ProgramParser::parseLine(StringRef word, SMLoc loc) {
  bool repeatable = word == "group" || word == "export";
  if (llvm::is_contained(lineWords(), word) && !repeatable && !seen.try_emplace(word, loc).second)
    return parser.emitError(loc) << "'" << word << "' is given twice";
  if (llvm::is_contained(lineWords(), word) && refuseSign(parser, word))
    return failure();
  if (word == "model") {
    StringAttr model;
    if (parser.parseSymbolName(model))
      return failure();
    state.addAttribute("model", FlatSymbolRefAttr::get(model));
    return success();
  }
  if (word == "optimizer")
    return parseAttr<OptimizerAttr>("optimizer", parseOptimizer);
  if (word == "schedule")
    return parseAttr<ScheduleAttr>("schedule", parseSchedule);
  if (word == "clip")
    return parseAttr<FloatAttr>("clip", parseNumber);
  if (word == "batch")
    return parseBatch(loc);
  if (const Setting *setting = findSetting(word); setting && !isOfBatch(*setting))
    return parseSetting(*setting, loc);
  if (word == "export")
    return parseExport(parser, loc, exports);
  if (word == "group") {
    GroupAttr group;
    if (parseGroup(parser, group))
      return failure();
    groups.push_back(group);
    const NamedAttribute source = groupSource(group, parser.getEncodedSourceLoc(loc));
    sources.set(source.getName(), source.getValue());
    return success();
  }
  return reportStranger(word, loc);
}

/// Returns the names of a theme's settings, for messages.
static std::string namesOf(Theme theme) {
  std::vector<std::string> names;
  for (const Setting *setting : kSettings)
    if (setting->theme == theme)
      names.emplace_back(setting->name);
  return listWords(names);
}

/// Says what takes the place of a former word.
static std::string insteadOf(const FormerWord &former) {
  if (former.setting.empty())
    return std::string(former.remark);
  const std::string value = former.value.empty() ? "" : " \"" + std::string(former.value) + "\"";
  return "write `" + std::string(former.setting) + value + "`" + std::string(former.remark);
}

/// Reports a word that begins no line.
ParseResult ProgramParser::reportStranger(StringRef word, SMLoc loc) {
  // Options have dashes, which end a word of the lexer.
  const StringRef dashed = StringRef(word.data()).take_while([](char each) {
    return llvm::isAlnum(each) || each == '_' || each == '-';
  });
  const std::string name = llvm::join(llvm::split(dashed, '-'), "_");
  InFlightDiagnostic error = parser.emitError(loc);
  if (name != word && llvm::is_contained(lineWords(), StringRef(name)))
    return error << "unknown word '" << dashed << "' in train.program; write `" << name << "`";
  if (word == "sharding")
    return error
           << "'sharding' is not a setting; write each setting of sharding alone, such as `prefetch 2`: "
           << namesOf(Theme::Sharding);
  if (const FormerWord *former = findFormerWord(name))
    return error << "'" << dashed << "' is not a setting; " << insteadOf(*former);
  error << "unknown word '" << word << "' in train.program; ";
  const SmallVector<StringRef> words = lineWords();
  if (const StringRef nearest = nearestName(word, words); !nearest.empty())
    return error << "did you mean '" << nearest << "'?";
  return error << "it has " << listWords({words.begin(), words.end()});
}

ParseResult ProgramParser::parseSetting(const Setting &setting, SMLoc loc) {
  const Attribute value = parseValue(parser, setting);
  if (!value)
    return failure();
  settings[setting.theme].set(StringRef(setting.name), value);
  sources.set(StringRef(setting.name), parser.getEncodedSourceLoc(loc));
  const SMLoc end = parser.getCurrentLocation();
  if (&setting == &kPrecision && succeeded(parser.parseOptionalLParen()))
    return parser.emitError(end) << "expected the next setting, found '('; write each setting of precision "
                                    "alone, such as `reduce_type bf16`: "
                                 << namesOf(Theme::Precision);
  return success();
}

/// Records the source line of each other line; groups and settings have theirs.
void ProgramParser::noteSources() {
  for (auto &[word, loc] : seen)
    if (!findSetting(word) && word != "batch")
      sources.set(word, parser.getEncodedSourceLoc(loc));
  state.addAttribute("sources", sources.getDictionary(parser.getContext()));
}

/// Reports errors at the settings' source lines, which the op no longer has.
ParseResult ProgramParser::checkLines() {
  DictionaryAttr program = state.attributes.getDictionary(parser.getContext());
  if (failed(checkNumbers(program, [&](StringRef word) { return parser.emitError(seen.lookup(word)); })))
    return failure();
  auto steps = dyn_cast_or_null<IntegerAttr>(settings[kSteps.theme].get(StringRef(kSteps.name)));
  if (!steps) // `trainrun --steps` says how many
    return success();
  auto schedule = program.getAs<ScheduleAttr>("schedule");
  auto warn = [&] {
    return emitWarning(parser.getEncodedSourceLoc(seen.lookup("schedule")))
           << "schedule: a run of " << steps.getInt() << " steps ";
  };
  if (auto warmup = int64_t(schedule.number("warmup")); warmup > steps.getInt())
    // `trainrun --steps` may run longer.
    warn() << "ends within the warmup of " << warmup << ", before the rate reaches the optimizer's lr";
  if (int64_t total = schedule.getTotal();
      total > 0 && steps.getInt() > total && schedule.number("minimum") == 0)
    warn() << "goes beyond the total of " << total << ", after which the rate is 0 and nothing is trained";
  return success();
}

ParseResult ProgramParser::parse() {
  while (failed(parser.parseOptionalRBrace())) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef word;
    if (parser.parseKeyword(&word) || parseLine(word, loc))
      return failure();
  }
  for (StringRef needed : {"model", "optimizer"})
    if (!seen.contains(needed))
      return parser.emitError(parser.getNameLoc())
             << "train.program lacks '" << needed << "'; expected e.g. '"
             << (needed == "model" ? "model @gpt2" : "optimizer adamw(lr 6e-4)") << "'";
  Builder &builder = parser.getBuilder();
  if (!seen.contains("schedule"))
    state.addAttribute("schedule", ScheduleAttr::standard(parser.getContext(), kSchedules[0].name));
  if (!groups.empty())
    state.addAttribute("groups", builder.getArrayAttr(groups));
  if (!exports.empty())
    state.addAttribute("exports", exports.getDictionary(parser.getContext()));
  for (auto &[theme, values] : settings)
    state.addAttribute(attributeOf(theme),
                       SettingsAttr::get(parser.getContext(), values.getDictionary(parser.getContext())));
  noteSources();
  return checkLines();
}

ParseResult ProgramOp::parse(OpAsmParser &parser, OperationState &state) {
  StringAttr name;
  if (parser.parseSymbolName(name, SymbolTable::getSymbolAttrName(), state.attributes) ||
      parseAttributes(parser, state) || parser.parseLBrace())
    return failure();
  return ProgramParser(parser, state).parse();
}

void ProgramOp::print(OpAsmPrinter &printer) {
  printer << " ";
  printer.printSymbolName(getSymName());
  SmallVector<StringRef> spelled = {"sym_name", "model",  "optimizer", "schedule",
                                    "clip",     "groups", "exports",   "sources"};
  for (const ThemeNames &theme : kThemes)
    spelled.push_back(theme.attribute);
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), spelled);
  printer << " {";
  printer.increaseIndent();
  auto line = [&](StringRef word) -> OpAsmPrinter & {
    printer.printNewline();
    printer << word << " ";
    return printer;
  };
  line("model") << getModelAttr();
  printOptimizer(line("optimizer"), getOptimizer());
  printSchedule(line("schedule"), getSchedule());
  if (FloatAttr clip = getClipAttr())
    printNumber(line("clip"), clip.getValueAsDouble());
  if (const std::optional<int64_t> batch = kMicroBatch.given(*this))
    line("batch") << *batch;
  if (const std::optional<int64_t> length = kSeqLen.given(*this))
    printer << " x " << *length;
  for (const Setting *setting : kSettings)
    if (const Attribute value = valueIn(*this, *setting); value && !isOfBatch(*setting))
      printValue(line(setting->name), *setting, value);
  for (Attribute group : getGroupsAttr() ? getGroupsAttr().getValue() : ArrayRef<Attribute>())
    printGroup(line("group"), cast<GroupAttr>(group));
  for (NamedAttribute file : getExportsAttr() ? getExportsAttr().getValue() : ArrayRef<NamedAttribute>()) {
    line("export");
    printExport(printer, file);
  }
  printer.decreaseIndent();
  printer.printNewline();
  printer << "}";
}

/// Verifies that each setting is among those of its theme.
static LogicalResult checkThemes(ProgramOp program) {
  for (const auto &[theme, attribute, heading] : kThemes)
    if (auto settings = program->getAttrOfType<SettingsAttr>(attribute))
      for (NamedAttribute value : settings.getValues())
        if (findSetting(value.getName().strref())->theme != theme)
          return program.emitError() << value.getName() << " is not a setting of '" << StringRef(attribute)
                                     << "'";
  return success();
}

/// Verifies rules that concern several settings.
static LogicalResult checkTogether(ProgramOp program) {
  if (kSeqLen.isSet(program) && !kMicroBatch.isSet(program))
    return program.emitError("a sequence length is given without a batch; expected `batch B x T`");
  if (kReshardAfterForward.given(program) == false && kMaxReuseDistance.isSet(program))
    return program.emitError(
        "reshard_after_forward (--reshard-after-forward) false keeps all gathered parameters, "
        "max_reuse_distance (--max-reuse-distance) those that are reused soon; leave one of them out");
  if (kSyncGradients.given(program) == GradientSync::micro_step &&
      kReproducible.of(program) == Reproducible::ranks)
    return program.emitError(
        "reproducible (--reproducible) ranks sums gradients over ranks once a step, but sync_gradients "
        "(--sync-gradients) is micro_step; leave sync_gradients out, or make it step");
  return success();
}

LogicalResult ProgramOp::verify() {
  if (failed(checkNumbers((*this)->getAttrDictionary(), [&](StringRef) { return emitError(); })))
    return failure();
  if (failed(checkThemes(*this)) || failed(checkTogether(*this)))
    return failure();
  return verifyExports(*this, getExportsAttr());
}
