// The words of train.program that say how a plan is made and run, not what is trained.
#include "dialects/Train/Settings.h"
#include "dialects/Train/TrainSyntax.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::train;

namespace {
/// A word that has one value so far.
struct FixedWord {
  StringRef word, value, meaning;
};
} // namespace

static constexpr FixedWord kFixedWords[] = {
    {"target", "cpu", "this version makes plans for the cpu"},
    {"precision", "fp32", "this version computes in fp32"},
};

std::optional<ParseResult> trainc::train::parseFixedWord(AsmParser &parser, StringRef word) {
  for (const FixedWord &fixed : kFixedWords) {
    if (fixed.word != word)
      continue;
    SMLoc loc = parser.getCurrentLocation();
    StringRef value;
    if (parser.parseKeyword(&value))
      return failure();
    if (value != fixed.value)
      return parser.emitError(loc) << fixed.meaning << ", found '" << value << "'";
    return success();
  }
  return std::nullopt;
}

ArrayRef<ChoiceWord> trainc::train::choiceWords() {
  static constexpr StringRef kProducts[] = {"fma", "bf16x3"}, kCheckpointing[] = {"none", "selective"};
  static constexpr ChoiceWord kChoices[] = {{"fp32_products", kProducts},
                                            {"activation_checkpointing", kCheckpointing}};
  return kChoices;
}

LogicalResult trainc::train::checkChoice(const ChoiceWord &choice, StringRef value,
                                         llvm::function_ref<InFlightDiagnostic()> error) {
  if (llvm::is_contained(choice.values, value))
    return success();
  return error() << "expected " << llvm::join(choice.values, " or ") << ", found '" << value << "'";
}

std::optional<ParseResult> trainc::train::parseChoice(OpAsmParser &parser, StringRef word,
                                                      NamedAttrList &attributes) {
  const auto *choice = llvm::find_if(choiceWords(), [&](const ChoiceWord &c) { return c.word == word; });
  if (choice == choiceWords().end())
    return std::nullopt;
  SMLoc loc = parser.getCurrentLocation();
  StringRef value;
  if (parser.parseKeyword(&value) ||
      failed(checkChoice(*choice, value, [&] { return parser.emitError(loc); })))
    return failure();
  attributes.set(word, parser.getBuilder().getStringAttr(value));
  return success();
}

ParseResult trainc::train::parseBytes(AsmParser &parser, IntegerAttr &attribute) {
  // All but the first four are only known to be refused with a better message than an unknown word's.
  static constexpr StringRef kUnits[] = {"KiB", "MiB", "GiB", "TiB", "KB", "MB",
                                         "GB",  "TB",  "K",   "M",   "G",  "T"};
  SMLoc loc = parser.getCurrentLocation();
  int64_t bytes = 0, size = 1;
  if (parser.parseInteger(bytes))
    return failure();
  SMLoc unitLoc = parser.getCurrentLocation();
  StringRef unit;
  if (succeeded(parser.parseOptionalKeyword(&unit, kUnits))) {
    if (!unit.ends_with("iB"))
      return parser.emitError(unitLoc) << "expected KiB, MiB, GiB or TiB (powers of 1024), found " << unit
                                       << "; write " << bytes << unit[0] << "iB";
    size = int64_t(1) << (10 * (1 + (llvm::find(kUnits, unit) - std::begin(kUnits))));
  }
  if (bytes < 1 || bytes > INT64_MAX / size)
    return parser.emitError(loc) << "expected a number of bytes above 0, such as 16GiB, found " << bytes
                                 << unit;
  attribute = parser.getBuilder().getI64IntegerAttr(bytes * size);
  return success();
}
