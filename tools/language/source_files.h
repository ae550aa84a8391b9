// Files of a model, and messages about positions in them.
#pragma once

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/SourceMgr.h"

#include <optional>
#include <string>

namespace trainc {

/// A position in a file: a buffer of a SourceMgr, and an offset in its text.
struct SourcePosition {
  unsigned buffer;
  size_t offset;
};

/// Whether a text may import files. Texts of fuzzers must not, because a path may name any file.
enum class Imports { Read, Refuse };

/// Returns the file, line and column of a position.
mlir::FileLineColLoc locationOf(const llvm::SourceMgr &sources, SourcePosition position,
                                mlir::MLIRContext &context);

/// The buffers of a SourceMgr.
class SourceFiles {
public:
  SourceFiles(llvm::SourceMgr &sources, mlir::MLIRContext &context) : sources_(sources), context_(context) {}

  llvm::StringRef textOf(unsigned buffer) const { return sources_.getMemoryBuffer(buffer)->getBuffer(); }
  llvm::StringRef nameOf(unsigned buffer) const {
    return sources_.getMemoryBuffer(buffer)->getBufferIdentifier();
  }
  mlir::FileLineColLoc locationOf(SourcePosition position) const {
    return trainc::locationOf(sources_, position, context_);
  }
  /// Returns the token at a position, for messages.
  std::string describe(SourcePosition position) const;

  unsigned main() const { return sources_.getMainFileID(); }
  unsigned add(llvm::StringRef text, llvm::StringRef name);
  mlir::MLIRContext &context() const { return context_; }

  mlir::InFlightDiagnostic errorAt(SourcePosition position, const llvm::Twine &message) const;

private:
  llvm::SourceMgr &sources_;
  mlir::MLIRContext &context_;
};

/// Returns the offset of the first character from `at` on that is not blank.
size_t skipBlanks(llvm::StringRef text, size_t at);
/// Returns the offset of the first character from `at` on that is neither blank nor the end of a line.
size_t skipSpace(llvm::StringRef text, size_t at);
/// Returns the offset of the `<` that follows an offset, maybe after blanks; nothing if none does.
std::optional<size_t> angleAfter(llvm::StringRef text, size_t at);
/// Returns the word at an offset; empty if there is none.
llvm::StringRef wordAt(llvm::StringRef text, size_t at);

} // namespace trainc
