// Syntax and verification of train.program.
#include "dialects/NN/Syntax.h"
#include "dialects/Train/Lists.h"
#include "dialects/Train/ProgramLines.h"
#include "dialects/Train/Sizes.h"
#include "dialects/Train/TrainSyntax.h"
#include "plan/facts/schedules.h"

#include "llvm/ADT/StringMap.h"

#include <cmath>

using namespace mlir;
using namespace trainc;
using namespace trainc::train;

/// Returns the word that begins the setting's line; `batch`, `sharding` and `precision` are lines of several
/// settings.
static StringRef lineOf(const ProgramWord &word) {
  if (word.word == "micro_batch" || word.word == "seq_len")
    return "batch";
  return word.ofSharding ? "sharding" : word.ofPrecision ? "precision" : StringRef(word.word);
}

static bool hasLine(const ProgramWord &word) { return lineOf(word) == StringRef(word.word); }

SmallVector<StringRef> trainc::train::lineWords() {
  SmallVector<StringRef> words;
  for (const ProgramLine &line : kProgramLines)
    words.push_back(line.word);
  for (const ProgramWord &word : kProgramWords)
    if (hasLine(word))
      words.push_back(word.word);
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
  ParseResult parseSetting(const ProgramWord &word);
  void noteSources();
  ParseResult checkLines();
  ParseResult parseCount(StringRef attribute);
  ParseResult parseBatch();
  template <typename Attr, typename Parser>
  ParseResult parseAttr(StringRef name, ParseResult (*parse)(Parser &, Attr &));

  OpAsmParser &parser;
  OperationState &state;
  llvm::StringMap<SMLoc> seen; ///< source location of each word
  SmallVector<Attribute> groups;
  NamedAttrList exports;
  NamedAttrList sources; ///< source location of each setting
};

/// Starts an error about the line of a word.
using ErrorAt = llvm::function_ref<InFlightDiagnostic(StringRef word)>;
} // namespace

/// Verifies the text of a setting.
static LogicalResult checkText(const ProgramWord &word, StringRef value,
                               llvm::function_ref<InFlightDiagnostic()> error) {
  if (!isList(word) || word.kind == ValueKind::Words)
    if (failed(checkChoice(word, value, error)))
      return failure();
  std::string list = value.str();
  if (const std::string problem = isList(word) ? tidyList(word, list) : ""; !problem.empty())
    return error() << StringRef(word.word) << ": " << problem;
  if (list != value) // the parser and options have normalised it
    return error() << StringRef(word.word) << ": expected no blanks around commas, '" << list << "', found '"
                   << value << "'";
  return success();
}

/// Verifies rules that concern several settings, and those that no attribute verifies.
static LogicalResult checkNumbers(DictionaryAttr program, ErrorAt errorAt) {
  for (const ProgramWord &word : kProgramWords) {
    const StringRef attribute(word.word);
    if (word.ofSharding || !program.get(attribute))
      continue;
    const bool ofBatch = lineOf(word) == "batch";
    auto count = program.getAs<IntegerAttr>(attribute);
    if (count && (count.getInt() < word.min || count.getInt() > word.max)) {
      InFlightDiagnostic error = errorAt(lineOf(word));
      error << (attribute == "seq_len" ? "sequence length" : ofBatch ? "batch" : attribute);
      if (word.max == INT64_MAX)
        error << " must be at least " << word.min;
      else
        error << " must lie between " << word.min << " and " << word.max;
      return error << ", found " << count.getInt();
    }
    if (auto value = program.getAs<StringAttr>(attribute);
        value && failed(checkText(word, value, [&] { return errorAt(lineOf(word)); })))
      return failure();
  }
  auto norm = program.getAs<FloatAttr>("clip");
  double clip = norm ? norm.getValueAsDouble() : 1;
  if (!(inF32(clip) > 0 && std::isfinite(inF32(clip))))
    return errorAt("clip") << "clip must be above 0, found " << formatInF32(clip)
                           << "; leave it out not to clip";
  double peak = program.getAs<OptimizerAttr>("optimizer").getLr().getValueAsDouble(),
         minimum = program.getAs<ScheduleAttr>("schedule").getMinimum().getValueAsDouble();
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

ParseResult ProgramParser::parseCount(StringRef attribute) {
  IntegerAttr count;
  if (parseWhole(parser, count))
    return failure();
  state.addAttribute(attribute, count);
  return success();
}

/// Parses `B`, or `B x T`.
ParseResult ProgramParser::parseBatch() {
  if (parseCount("micro_batch"))
    return failure();
  return succeeded(parser.parseOptionalKeyword("x")) ? parseCount("seq_len") : success();
}

ParseResult ProgramParser::parseLine(StringRef word, SMLoc loc) {
  bool repeatable = word == "group" || word == "export";
  if (llvm::is_contained(lineWords(), word) && !repeatable && !seen.try_emplace(word, loc).second)
    return parser.emitError(loc) << "'" << word << "' is given twice";
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
    return parseBatch();
  if (word == "sharding")
    return parseAttr<ShardingAttr>("sharding", parseSharding);
  if (const ProgramWord *setting = findProgramWord(word); setting && hasLine(*setting))
    return parseSetting(*setting);
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
  return parser.emitError(loc) << "unknown word '" << word << "' in train.program; it has "
                               << listWords(lineWords());
}

ParseResult ProgramParser::parseSetting(const ProgramWord &word) {
  if (word.word == "precision")
    return parsePrecision(parser, state.attributes);
  if (word.kind == ValueKind::Choice)
    return parseChoice(parser, word, state.attributes);
  if (isList(word)) // quoted, because names may contain dashes
    return parseWords(parser, word, state.attributes);
  return word.kind == ValueKind::Bytes ? parseBytes(parser, word, state.attributes) : parseCount(word.word);
}

/// Records the source line of each setting.
void ProgramParser::noteSources() {
  for (auto &[word, loc] : seen) {
    const LocationAttr line = parser.getEncodedSourceLoc(loc);
    if (word == "batch") {
      sources.set("micro_batch", line);
      if (state.attributes.get("seq_len"))
        sources.set("seq_len", line);
    } else if (word == "sharding") {
      for (NamedAttribute inside : cast<ShardingAttr>(state.attributes.get("sharding")).getWords())
        sources.set(inside.getName(), line);
    } else {
      sources.set(word, line);
    }
    for (const ProgramWord &inside : kProgramWords)
      if (word == "precision" && inside.ofPrecision && state.attributes.get(StringRef(inside.word)))
        sources.set(StringRef(inside.word), line);
  }
  state.addAttribute("sources", sources.getDictionary(parser.getContext()));
}

/// Reports errors at the settings' source lines, which the op no longer has.
ParseResult ProgramParser::checkLines() {
  DictionaryAttr program = state.attributes.getDictionary(parser.getContext());
  if (failed(checkNumbers(program, [&](StringRef word) { return parser.emitError(seen.lookup(word)); })))
    return failure();
  int64_t warmup = program.getAs<ScheduleAttr>("schedule").getWarmup();
  if (auto steps = program.getAs<IntegerAttr>("steps"); steps && warmup > steps.getInt())
    // `trainrun --steps` may run longer.
    emitWarning(parser.getEncodedSourceLoc(seen.lookup("schedule")))
        << "schedule: a run of " << steps.getInt() << " steps ends within the warmup of " << warmup
        << ", before the rate reaches the optimizer's lr";
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
    state.addAttribute("schedule", ScheduleAttr::get(parser.getContext(), kSchedules[0].name, 0, 0,
                                                     builder.getF64FloatAttr(0)));
  if (!groups.empty())
    state.addAttribute("groups", builder.getArrayAttr(groups));
  if (!exports.empty())
    state.addAttribute("exports", exports.getDictionary(parser.getContext()));
  noteSources();
  return checkLines();
}

ParseResult ProgramOp::parse(OpAsmParser &parser, OperationState &state) {
  StringAttr name;
  if (parser.parseSymbolName(name, SymbolTable::getSymbolAttrName(), state.attributes) ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes) || parser.parseLBrace())
    return failure();
  return ProgramParser(parser, state).parse();
}

/// Prints the setting's line, unless it is absent or the default.
static void printSetting(llvm::function_ref<OpAsmPrinter &(StringRef)> line, ProgramOp program,
                         const ProgramWord &word) {
  if (word.word == "precision")
    return printPrecision(line, program);
  Attribute value = program->getAttr(StringRef(word.word));
  if (auto text = dyn_cast_or_null<StringAttr>(value)) {
    if (isList(word) || text.getValue().contains('-')) // contains characters that MLIR keywords cannot have
      line(word.word) << text;
    else
      line(word.word) << text.getValue();
  }
  if (auto number = dyn_cast_or_null<IntegerAttr>(value);
      number && std::to_string(number.getInt()) != word.defaultValue)
    line(word.word) << (word.isMemory() ? writtenBytes(number.getInt()) : std::to_string(number.getInt()));
}

void ProgramOp::print(OpAsmPrinter &printer) {
  printer << " ";
  printer.printSymbolName(getSymName());
  SmallVector<StringRef> spelled = {"sym_name", "model",   "optimizer", "schedule", "clip",
                                    "groups",   "exports", "sharding",  "sources"};
  for (const ProgramWord &word : kProgramWords)
    spelled.push_back(word.word);
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
  if (std::optional<uint64_t> batch = getMicroBatch())
    line("batch") << *batch;
  if (std::optional<uint64_t> length = getSeqLen())
    printer << " x " << *length;
  for (const ProgramWord &word : kProgramWords)
    if (hasLine(word))
      printSetting(line, *this, word);
  if (ShardingAttr sharding = getShardingAttr()) {
    printer.printNewline();
    printer << "sharding";
    sharding.print(printer);
  }
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

LogicalResult ProgramOp::verify() {
  if (failed(checkNumbers((*this)->getAttrDictionary(), [&](StringRef) { return emitError(); })))
    return failure();
  if (getSeqLen() && !getMicroBatch())
    return emitError("a sequence length is given without a batch; expected `batch B x T`");
  return verifyExports(*this, getExportsAttr());
}
