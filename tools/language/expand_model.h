// Expansion of a model's text: imports, constants, and blocks with constants.
#pragma once

#include "tools/language/source_files.h"
#include "tools/language/text_check.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/LogicalResult.h"
#include "llvm/Support/SourceMgr.h"

#include <optional>
#include <string>
#include <vector>

namespace trainc {

/// A copy of a block for some values of its constants.
struct BlockCopy {
  std::string symbol;                ///< `layer<window = 512>`
  std::optional<SourcePosition> use; ///< the first use; none if nothing uses the block
  std::optional<size_t> user;        ///< index of the copy that contains this use; none if no copy does
};

/// Returns the note of a message about a copy, at its use.
std::string describeUse(const BlockCopy &copy);

/// An expanded text, which MLIR's parser reads, and the positions from which its parts come.
class ExpandedText {
public:
  llvm::StringRef text() const { return text_; }
  /// Returns the position of the character at `offset`. All characters of a constant's number have the
  /// position of the constant's use.
  SourcePosition positionOf(size_t offset) const;
  /// Returns the text at `offset` that replaces what an author wrote; empty if the author wrote the text.
  llvm::StringRef replacementAt(size_t offset) const;
  /// Returns the copies of blocks that the text at `offset` is in: the copy itself, the copy that uses it,
  /// and so on.
  std::vector<BlockCopy> copiesAt(size_t offset) const;
  /// Appends the heading of a copy, which is written at `position`. The text that follows belongs to the
  /// copy.
  void beginCopy(BlockCopy copy, SourcePosition position);
  /// Appends a part of a buffer, which begins at `position`.
  void copy(llvm::StringRef text, SourcePosition position);
  /// Appends a text that replaces what is written at `position`.
  void put(const llvm::Twine &text, SourcePosition position);

private:
  struct Piece {
    size_t begin; ///< in the expanded text
    SourcePosition position;
    bool isCopy; ///< whether the piece is a part of the buffer, character by character
  };

  std::string text_;
  std::vector<Piece> pieces_;      ///< by begin
  std::vector<BlockCopy> copies_;  ///< in the order of their text
  std::vector<size_t> copyBegins_; ///< offsets of the copies
};

/// Expands the main buffer of `sources`. Adds a buffer for each imported file.
///   * `import "blocks.mlir"` is replaced by the file's text.
///   * `let width = 576` vanishes. `$width` and `$(width / 2)` are replaced by numbers.
///   * `nn.block @layer<window>` is copied once for each set of numbers with which it is used.
/// Errors, and texts that MLIR's parser would misread (text_check.h), are reported at their positions.
llvm::FailureOr<ExpandedText> expandModel(llvm::SourceMgr &sources, mlir::MLIRContext &context,
                                          Imports imports = Imports::Read);

/// Returns a text of the same length for a parser that does not know what expandModel() replaces. Each token
/// keeps its position. Constants are replaced by a number, all else by blanks.
std::string maskExpansions(llvm::StringRef text);

/// Finds the first line that only expandModel() reads.
std::optional<TextProblem> findExpansion(llvm::StringRef text);

} // namespace trainc
