// The words of train.program that say how a plan is made and run, not what is trained.
#include "dialects/Train/TrainSyntax.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::train;

ParseResult trainc::train::parseChoice(OpAsmParser &parser, const ProgramWord &word,
                                       NamedAttrList &attributes) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef value;
  if (parser.parseKeyword(&value) || failed(checkChoice(word, value, [&] { return parser.emitError(loc); })))
    return failure();
  attributes.set(StringRef(word.word), parser.getBuilder().getStringAttr(value));
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
