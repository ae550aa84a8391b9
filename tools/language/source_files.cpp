#include "tools/language/source_files.h"

#include "tools/language/text_position.h"

#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>

using llvm::StringRef;
using llvm::Twine;

namespace trainc {

mlir::FileLineColLoc locationOf(const llvm::SourceMgr &sources, SourcePosition position,
                                mlir::MLIRContext &context) {
  const llvm::MemoryBuffer &buffer = *sources.getMemoryBuffer(position.buffer);
  const llvm::SMLoc pointer = llvm::SMLoc::getFromPointer(buffer.getBufferStart() + position.offset);
  const auto [line, column] = sources.getLineAndColumn(pointer, position.buffer);
  return mlir::FileLineColLoc::get(&context, buffer.getBufferIdentifier(), line, column);
}

std::string SourceFiles::describe(SourcePosition position) const {
  return TextPosition(textOf(position.buffer), position.offset).describe();
}

unsigned SourceFiles::add(StringRef text, StringRef name) {
  return sources_.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, name), llvm::SMLoc());
}

mlir::InFlightDiagnostic SourceFiles::errorAt(SourcePosition position, const Twine &message) const {
  return mlir::emitError(locationOf(position)) << message;
}

size_t skipBlanks(StringRef text, size_t at) {
  return std::min(text.find_first_not_of(" \t", at), text.size());
}

size_t skipSpace(StringRef text, size_t at) {
  return std::min(text.find_first_not_of(" \t\r\n", at), text.size());
}

std::optional<size_t> angleAfter(StringRef text, size_t at) {
  at = skipBlanks(text, at);
  return text.substr(at).starts_with("<") ? std::optional(at) : std::nullopt;
}

StringRef wordAt(StringRef text, size_t at) { return text.substr(at).take_while(isWordCharacter); }

} // namespace trainc
