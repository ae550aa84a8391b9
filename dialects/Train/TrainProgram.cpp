// Syntax and verification of train.program.
#include "dialects/NN/Float32.h"
#include "dialects/Train/Limits.h"
#include "dialects/Train/Settings.h"
#include "dialects/Train/TrainSyntax.h"

#include "llvm/ADT/StringSet.h"

#include <cmath>

using namespace mlir;
using namespace trainc;
using namespace trainc::train;

static constexpr StringRef kWords[] = {"model",      "optimizer",  "schedule", "clip",  "batch",
                                       "accumulate", "eval_batch", "steps",    "group", "export"};

namespace {
/// Parses the lines between the braces into attributes.
class ProgramParser {
public:
  ProgramParser(OpAsmParser &parser, OperationState &state) : parser(parser), state(state) {}
  ParseResult parse();

private:
  ParseResult parseLine(StringRef word, SMLoc loc);
  ParseResult parseCount(StringRef attribute);
  ParseResult parseBatch();
  template <typename Attr> ParseResult parseAttr(StringRef name, ParseResult (*parse)(AsmParser &, Attr &));

  OpAsmParser &parser;
  OperationState &state;
  llvm::StringSet<> seen;
  SmallVector<Attribute> groups;
  NamedAttrList exports;
};
} // namespace

template <typename Attr>
ParseResult ProgramParser::parseAttr(StringRef name, ParseResult (*parse)(AsmParser &, Attr &)) {
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
  if (llvm::is_contained(kWords, word) && !repeatable && !seen.insert(word).second)
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
  if (word == "clip") {
    double norm = 0;
    if (parseNumber(parser, norm))
      return failure();
    state.addAttribute("clip", parser.getBuilder().getF64FloatAttr(norm));
    return success();
  }
  if (word == "batch")
    return parseBatch();
  if (word == "accumulate" || word == "eval_batch" || word == "steps")
    return parseCount(word);
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
  return success();
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
  SmallVector<StringRef> spelled = {"sym_name",   "model",       "optimizer", "schedule",
                                    "clip",       "micro_batch", "seq_len",   "accumulate",
                                    "eval_batch", "steps",       "groups",    "exports"};
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
  if (getAccumulate() != 1)
    line("accumulate") << getAccumulate();
  if (std::optional<uint64_t> batch = getEvalBatch())
    line("eval_batch") << *batch;
  if (std::optional<uint64_t> steps = getSteps())
    line("steps") << *steps;
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
  auto check = [&](StringRef word, std::optional<uint64_t> count, int64_t most) -> LogicalResult {
    if (count && (int64_t(*count) < 1 || int64_t(*count) > most))
      return emitOpError() << word << " must lie between 1 and " << most << ", found " << int64_t(*count);
    return success();
  };
  if (failed(check("batch", getMicroBatch(), kMaxBatch)) ||
      failed(check("sequence length", getSeqLen(), kMaxLength)) ||
      failed(check("accumulate", getAccumulate(), kMaxAccumulate)) ||
      failed(check("eval_batch", getEvalBatch(), kMaxBatch)) || failed(check("steps", getSteps(), kMaxSteps)))
    return failure();
  if (getSeqLen() && !getMicroBatch())
    return emitOpError("has a sequence length without a batch; expected `batch B x T`");
  if (failed(verifyExports(*this, getExportsAttr())))
    return failure();
  double clip = getClipAttr() ? getClipAttr().getValueAsDouble() : 1;
  if (!(inF32(clip) > 0 && std::isfinite(inF32(clip))))
    return emitOpError("clip must be above 0, found ") << formatInF32(clip) << "; leave it out not to clip";
  double peak = getOptimizer().getLr().getValueAsDouble(),
         minimum = getSchedule().getMinimum().getValueAsDouble();
  if (minimum > peak)
    return emitOpError("the schedule's minimum ")
           << formatNumber(minimum) << " exceeds the optimizer's lr " << formatNumber(peak);
  return success();
}
