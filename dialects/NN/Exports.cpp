// `export "config.json" {...}` of models and programs.
#include "base/plain_text.h"
#include "dialects/NN/Syntax.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;
using namespace trainc;

/// Names of the files that a checkpoint itself consists of.
static constexpr StringRef kOwnFiles[] = {"model.safetensors", "optimizer.safetensors", "trainer_state.json"};

ParseResult trainc::parseExport(AsmParser &parser, SMLoc loc, NamedAttrList &exports) {
  std::string file;
  DictionaryAttr content;
  if (parser.parseString(&file) || parser.parseAttribute(content))
    return failure();
  if (exports.get(file))
    return parser.emitError(loc) << "'export \"" << file << "\"' is given twice";
  exports.append(file, content);
  return success();
}

void trainc::printExport(AsmPrinter &printer, NamedAttribute file) {
  printer.printString(file.getName().getValue());
  printer << " " << file.getValue();
}

/// Maximum bytes of a file name in common file systems.
static constexpr size_t kMaxFileName = 255;

/// Whether `file` is a valid name in the checkpoint folder.
static bool isPlainFileName(StringRef file) {
  return isPlainText(file) && file.front() != '.' && !file.contains('/') && file.size() <= kMaxFileName;
}

/// Quotes a file name for a message, unless the name cannot be printed or is too long.
static std::string quoted(StringRef file) {
  if (!isPlainText(file))
    return file.empty() ? "\"\"" : "other bytes";
  return file.size() > kMaxFileName ? (Twine(file.size()) + " bytes").str() : ("\"" + file + "\"").str();
}

/// Returns the part of an attribute that JSON cannot represent; empty if there is none.
static std::string notJson(Attribute value) {
  std::string found;
  if (auto array = dyn_cast<ArrayAttr>(value)) {
    llvm::any_of(array, [&](Attribute element) { return !(found = notJson(element)).empty(); });
    return found;
  }
  if (auto dictionary = dyn_cast<DictionaryAttr>(value)) {
    for (NamedAttribute entry : dictionary) {
      if (!isUtf8(entry.getName().getValue()))
        return "a key that is not UTF-8";
      if (std::string inner = notJson(entry.getValue()); !inner.empty())
        return (entry.getName().getValue() + " = " + inner).str();
    }
    return found;
  }
  llvm::raw_string_ostream text(found);
  if (auto number = dyn_cast<FloatAttr>(value)) {
    if (!number.getType().isF64() && !number.getType().isF32()) // of which the parser has rounded the number
      text << "a number of type " << number.getType() << " (write it without the type)";
    else if (!std::isfinite(number.getValueAsDouble()))
      text << number;
  } else if (auto integer = dyn_cast<IntegerAttr>(value)) {
    bool isUnsigned = integer.getType().isUnsignedInteger();
    if ((isUnsigned ? integer.getValue().getActiveBits() : integer.getValue().getSignificantBits()) > 64)
      text << integer;
  } else if (auto string = dyn_cast<StringAttr>(value)) {
    if (!isUtf8(string.getValue()))
      text << "a string that is not UTF-8";
  } else if (!isa<UnitAttr>(value)) {
    text << value;
  }
  constexpr size_t kShown = 60;
  return found.size() > kShown ? found.substr(0, kShown) + "..." : found;
}

LogicalResult trainc::verifyExports(Operation *op, DictionaryAttr exports) {
  if (!exports)
    return success();
  for (NamedAttribute entry : exports) {
    StringRef file = entry.getName().getValue();
    if (!isPlainFileName(file))
      return op->emitOpError("export: expected a plain file name of at most ")
             << kMaxFileName << " bytes, found " << quoted(file);
    if (llvm::is_contained(kOwnFiles, file))
      return op->emitOpError("export: checkpoints write \"") << file << "\" themselves; choose another name";
    if (std::string found = notJson(entry.getValue()); !found.empty())
      return op->emitOpError("export \"")
             << file
             << "\": expected values that JSON can represent (booleans, integers of 64 bits, "
                "finite numbers, strings in UTF-8, [...], {...} and unit), found "
             << found;
  }
  return success();
}
