// The setting `precision` of train.program: its syntax and its meaning.
#include "dialects/Train/Precision.h"

#include "base/name_pattern.h"
#include "dialects/Train/TrainSyntax.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::train;

// --- Syntax ---

/// Returns the text in quotes, escaped for the parser.
static std::string quoted(StringRef text) {
  std::string result;
  llvm::raw_string_ostream stream(result);
  stream << '"';
  llvm::printEscapedString(text, stream);
  stream << '"';
  return result;
}

/// Returns the compute type of a precision, e.g. f32 for `fp32`.
static StringRef computeTypeOf(StringRef precision) {
  return precision == "fp32" ? "f32" : precision == "fp16" ? "f16" : precision;
}

/// Parses `compute = bf16`, which must agree with the precision.
static ParseResult parseCompute(OpAsmParser &parser, StringRef precision) {
  const SMLoc loc = parser.getCurrentLocation();
  StringRef type;
  if (parser.parseEqual() || parser.parseKeyword(&type))
    return failure();
  if (type == computeTypeOf(precision))
    return success();
  return parser.emitError(loc) << "precision " << precision << " computes in " << computeTypeOf(precision)
                               << ", found '" << type << "'";
}

/// Parses `keep "*.norm.*" f32`; several patterns become one attribute.
static ParseResult parseKeep(OpAsmParser &parser, NamedAttrList &attributes) {
  const SMLoc loc = parser.getCurrentLocation();
  std::string text;
  const bool isString = succeeded(parser.parseOptionalString(&text));
  const std::string pattern = StringRef(text).trim().str();
  if (!isString || pattern.empty())
    return parser.emitError(loc) << "expected the pattern of parameters' names in quotes, such as keep "
                                    "\"*.norm.*\" f32";
  if (StringRef(pattern).contains(','))
    return parser.emitError(loc) << "a pattern has no comma; expected a `keep` for each pattern, and * for a "
                                    "comma in a name";
  const SMLoc typeLoc = parser.getCurrentLocation();
  StringRef type;
  if (parser.parseKeyword(&type))
    return failure();
  if (type != "f32")
    return parser.emitError(typeLoc) << "expected f32, the one type that parameters are kept in, found '"
                                     << type << "'";
  auto before = dyn_cast_or_null<StringAttr>(attributes.get("keep"));
  attributes.set(
      "keep", parser.getBuilder().getStringAttr(before ? before.getValue() + "," + pattern : Twine(pattern)));
  return success();
}

/// Words inside the parentheses, for messages.
static constexpr StringLiteral kInside = "params, compute, reduce, buffers, products or keep";

/// Reports an unknown word. If it begins the next line, the closing `)` is missing.
static ParseResult reportStranger(OpAsmParser &parser, SMLoc loc, StringRef found) {
  if (found == "}" || llvm::is_contained(lineWords(), found))
    return parser.emitError(loc) << "nothing closes the '(' of precision; expected " << kInside
                                 << ", or ')' after the last of them, found '" << found << "'";
  return parser.emitError(loc) << "unknown word '" << found << "'; expected " << kInside;
}

/// Parses one word inside. `seen` holds the words before it; only `keep` may repeat.
static ParseResult parseInside(OpAsmParser &parser, StringRef precision, llvm::StringSet<> &seen,
                               NamedAttrList &attributes) {
  const SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (succeeded(parser.parseOptionalRBrace()))
    return reportStranger(parser, loc, "}");
  if (parser.parseKeyword(&name))
    return failure();
  if (name == "keep")
    return parseKeep(parser, attributes);
  const ProgramWord *word = findProgramWord(name);
  if (name != "compute" && !(word && word->ofPrecision))
    return reportStranger(parser, loc, name);
  if (!seen.insert(name).second)
    return parser.emitError(loc) << "'" << name << "' is given twice";
  if (name == "compute")
    return parseCompute(parser, precision);
  return failure(parser.parseEqual() || parseChoice(parser, *word, attributes));
}

ParseResult trainc::train::parsePrecision(OpAsmParser &parser, NamedAttrList &attributes) {
  if (parseChoice(parser, *findProgramWord("precision"), attributes))
    return failure();
  const StringRef precision = cast<StringAttr>(attributes.get("precision")).getValue();
  llvm::StringSet<> seen;
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalParen,
                                        [&] { return parseInside(parser, precision, seen, attributes); });
}

void trainc::train::printPrecision(llvm::function_ref<OpAsmPrinter &(StringRef)> line, ProgramOp program) {
  SmallVector<std::string> inside;
  for (const ProgramWord &word : kProgramWords) {
    auto value = program->getAttrOfType<StringAttr>(StringRef(word.word));
    if (word.ofPrecision && value && word.kind == ValueKind::Names)
      for (StringRef pattern : llvm::split(value.getValue(), ','))
        inside.push_back("keep " + quoted(pattern) + " f32");
    else if (word.ofPrecision && value)
      inside.push_back((StringRef(word.word) + " = " + value.getValue()).str());
  }
  if (!program.getPrecision() && inside.empty())
    return;
  OpAsmPrinter &printer = line("precision");
  printer << program.getPrecision().value_or("fp32");
  if (!inside.empty())
    printer << " (" << llvm::join(inside, ", ") << ")";
}

// --- Meaning ---

/// Returns the element type `f32`, `bf16` or `f16`; null for other words.
static FloatType elementTypeNamed(MLIRContext *context, StringRef name) {
  return llvm::StringSwitch<FloatType>(name)
      .Case("f32", Float32Type::get(context))
      .Case("bf16", BFloat16Type::get(context))
      .Case("f16", Float16Type::get(context))
      .Default({});
}

bool PrecisionSettings::keepsF32(StringRef parameter) const {
  return llvm::any_of(keep, [&](StringRef pattern) { return matchesPattern(pattern, parameter); });
}

PrecisionSettings trainc::train::precisionOf(ProgramOp program) {
  auto type = [&](std::optional<StringRef> name) {
    return elementTypeNamed(program.getContext(), name.value_or("f32"));
  };
  const StringRef precision = program.getPrecision().value_or("fp32");
  PrecisionSettings settings;
  settings.compute = type(computeTypeOf(precision));
  settings.eval = type(computeTypeOf(program.getEvalPrecision().value_or(precision)));
  settings.params = type(program.getParams());
  settings.optimizerStates = type(program.getOptimizerStates());
  settings.reduce = type(program.getReduce());
  settings.buffers = type(program.getBuffers());
  settings.multipliesFp8 = program.getProducts() == "fp8";
  if (std::optional<StringRef> patterns = program.getKeep())
    patterns->split(settings.keep, ',');
  return settings;
}
