// Syntax and verification of train.program.
#include "dialects/NN/Float32.h"
#include "dialects/Train/Limits.h"
#include "dialects/Train/Settings.h"
#include "dialects/Train/TrainSyntax.h"

#include "llvm/ADT/StringMap.h"

#include <cmath>

using namespace mlir;
using namespace trainc;
using namespace trainc::train;

static constexpr StringRef kWords[] = {
    "model",      "optimizer",    "schedule",      "clip",       "batch",     "ranks",
    "zero_stage", "sharding",     "accumulate",    "eval_batch", "steps",     "group",
    "export",     "memory_limit", "fp32_products", "target",     "precision", "activation_checkpointing"};

namespace {
/// Parses the lines between the braces into attributes.
class ProgramParser {
public:
  ProgramParser(OpAsmParser &parser, OperationState &state) : parser(parser), state(state) {}
  ParseResult parse();

private:
  ParseResult parseLine(StringRef word, SMLoc loc);
  ParseResult checkLines();
  ParseResult parseCount(StringRef attribute);
  ParseResult parseBatch();
  template <typename Attr, typename Parser>
  ParseResult parseAttr(StringRef name, ParseResult (*parse)(Parser &, Attr &));

  OpAsmParser &parser;
  OperationState &state;
  llvm::StringMap<SMLoc> seen; ///< where each word stands
  SmallVector<Attribute> groups;
  NamedAttrList exports;
};

/// An error about the line of a word.
using ErrorAt = llvm::function_ref<InFlightDiagnostic(StringRef word)>;
} // namespace

/// Checks what one line alone does not tell, or no attribute does.
static LogicalResult checkNumbers(DictionaryAttr program, ErrorAt errorAt) {
  auto check = [&](StringRef word, StringRef attribute, StringRef name, int64_t most) -> LogicalResult {
    auto count = program.getAs<IntegerAttr>(attribute);
    if (count && (count.getInt() < 1 || count.getInt() > most))
      return errorAt(word) << name << " must lie between 1 and " << most << ", found " << count.getInt();
    return success();
  };
  if (failed(check("batch", "micro_batch", "batch", kMaxBatch)) ||
      failed(check("batch", "seq_len", "sequence length", kMaxLength)) ||
      failed(check("ranks", "ranks", "ranks", kMaxRanks)) ||
      failed(check("accumulate", "accumulate", "accumulate", kMaxAccumulate)) ||
      failed(check("eval_batch", "eval_batch", "eval_batch", kMaxBatch)) ||
      failed(check("steps", "steps", "steps", kMaxSteps)) ||
      failed(check("memory_limit", "memory_limit", "memory_limit", INT64_MAX)))
    return failure();
  auto stage = program.getAs<IntegerAttr>("zero_stage");
  if (stage && (stage.getInt() < 0 || stage.getInt() > kMaxZeroStage))
    return errorAt("zero_stage") << "zero_stage must lie between 0 and " << kMaxZeroStage << ", found "
                                 << stage.getInt();
  for (const ChoiceWord &choice : choiceWords())
    if (auto value = program.getAs<StringAttr>(choice.word);
        value && failed(checkChoice(choice, value, [&] { return errorAt(choice.word); })))
      return failure();
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
  int64_t count = 0;
  if (parser.parseInteger(count))
    return failure();
  state.addAttribute(attribute, parser.getBuilder().getI64IntegerAttr(count));
  return success();
}

/// `B`, or `B x T`.
ParseResult ProgramParser::parseBatch() {
  if (parseCount("micro_batch"))
    return failure();
  return succeeded(parser.parseOptionalKeyword("x")) ? parseCount("seq_len") : success();
}

ParseResult ProgramParser::parseLine(StringRef word, SMLoc loc) {
  bool repeatable = word == "group" || word == "export";
  if (llvm::is_contained(kWords, word) && !repeatable && !seen.try_emplace(word, loc).second)
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
  if (word == "ranks" || word == "zero_stage" || word == "accumulate" || word == "eval_batch" ||
      word == "steps")
    return parseCount(word);
  if (word == "sharding")
    return parseAttr<ShardingAttr>("sharding", parseSharding);
  if (word == "memory_limit")
    return parseAttr<IntegerAttr>("memory_limit", parseBytes);
  if (std::optional<ParseResult> choice = parseChoice(parser, word, state.attributes))
    return *choice;
  if (std::optional<ParseResult> fixed = parseFixedWord(parser, word))
    return *fixed;
  if (word == "export")
    return parseExport(parser, loc, exports);
  if (word == "group") {
    GroupAttr group;
    if (parseGroup(parser, group))
      return failure();
    groups.push_back(group);
    return success();
  }
  return parser.emitError(loc) << "unknown word '" << word << "' in train.program; it has "
                               << listWords(kWords);
}

/// Says what is wrong with the settings where they are written, which the op no longer knows.
ParseResult ProgramParser::checkLines() {
  DictionaryAttr program = state.attributes.getDictionary(parser.getContext());
  if (failed(checkNumbers(program, [&](StringRef word) { return parser.emitError(seen.lookup(word)); })))
    return failure();
  int64_t warmup = program.getAs<ScheduleAttr>("schedule").getWarmup();
  if (auto steps = program.getAs<IntegerAttr>("steps"); steps && warmup > steps.getInt())
    // `trainrun --steps` may go further.
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
    state.addAttribute("schedule", ScheduleAttr::get(parser.getContext(), ScheduleKind::constant, 0, 0,
                                                     builder.getF64FloatAttr(0)));
  if (!groups.empty())
    state.addAttribute("groups", builder.getArrayAttr(groups));
  if (!exports.empty())
    state.addAttribute("exports", exports.getDictionary(parser.getContext()));
  return checkLines();
}

ParseResult ProgramOp::parse(OpAsmParser &parser, OperationState &state) {
  StringAttr name;
  if (parser.parseSymbolName(name, SymbolTable::getSymbolAttrName(), state.attributes) ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes) || parser.parseLBrace())
    return failure();
  return ProgramParser(parser, state).parse();
}

void ProgramOp::print(OpAsmPrinter &printer) {
  printer << " ";
  printer.printSymbolName(getSymName());
  SmallVector<StringRef> spelled = {"sym_name",   "model",       "optimizer",    "schedule",
                                    "clip",       "micro_batch", "seq_len",      "ranks",
                                    "zero_stage", "accumulate",  "eval_batch",   "steps",
                                    "groups",     "exports",     "memory_limit", "sharding"};
  for (const ChoiceWord &choice : choiceWords())
    spelled.push_back(choice.word);
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
  if (getRanks() != 1)
    line("ranks") << getRanks();
  if (getZeroStage() != 0)
    line("zero_stage") << getZeroStage();
  if (ShardingAttr sharding = getShardingAttr()) {
    printer.printNewline();
    printer << "sharding";
    sharding.print(printer);
  }
  if (getAccumulate() != 1)
    line("accumulate") << getAccumulate();
  if (std::optional<uint64_t> batch = getEvalBatch())
    line("eval_batch") << *batch;
  if (std::optional<uint64_t> steps = getSteps())
    line("steps") << *steps;
  if (std::optional<uint64_t> bytes = getMemoryLimit())
    line("memory_limit") << *bytes;
  for (const ChoiceWord &choice : choiceWords())
    if (auto value = (*this)->getAttrOfType<StringAttr>(choice.word))
      line(choice.word) << value.getValue();
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
  if (failed(checkNumbers((*this)->getAttrDictionary(), [&](StringRef) { return emitOpError(); })))
    return failure();
  if (getSeqLen() && !getMicroBatch())
    return emitOpError("has a sequence length without a batch; expected `batch B x T`");
  return verifyExports(*this, getExportsAttr());
}
