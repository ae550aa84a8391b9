// `export "config.json" {...}` of models and programs.
#include "dialects/NN/Syntax.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ConvertUTF.h"

using namespace mlir;

/// The files that a checkpoint writes itself.
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

/// A name in the checkpoint's folder.
static bool isPlainFileName(StringRef file) {
  auto *begin = reinterpret_cast<const llvm::UTF8 *>(file.begin());
  return !file.empty() && file.front() != '.' && !file.contains('/') &&
         llvm::none_of(file, [](unsigned char c) { return c < 0x20 || c == 0x7f; }) &&
         llvm::isLegalUTF8String(&begin, reinterpret_cast<const llvm::UTF8 *>(file.end()));
}

LogicalResult trainc::verifyExports(Operation *op, DictionaryAttr exports) {
  if (!exports)
    return success();
  for (NamedAttribute entry : exports) {
    StringRef file = entry.getName().getValue();
    if (!isPlainFileName(file))
      return op->emitOpError("export: expected a plain file name, found \"") << file << "\"";
    if (llvm::is_contained(kOwnFiles, file))
      return op->emitOpError("export: checkpoints write \"") << file << "\" themselves; choose another name";
  }
  return success();
}
