// Parts of a model's text: constants, blocks with constants, and all else.
#pragma once

#include "tools/language/expression.h"
#include "tools/language/source_files.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/LogicalResult.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace trainc {

/// A constant of file level: `let name = value`.
struct Constant {
  llvm::StringRef name;
  ConstantValue value;
  SourcePosition position;
};

/// A name in the `<...>` of a block.
struct BlockConstant {
  llvm::StringRef name;
  std::optional<ConstantValue> defaultValue; ///< the value for uses that do not set the constant
};

/// A block with constants, which is copied for its uses.
struct BlockTemplate {
  llvm::StringRef name;
  SourcePosition position; ///< of `nn.block`
  size_t visible;          ///< number of file-level constants before the block
  size_t body, end;        ///< offsets after the `>` of the constants, and after the block
  std::vector<BlockConstant> constants;
};

/// Text of a file without `let`, `import` and blocks with constants.
struct Chunk {
  SourcePosition position;
  size_t end;
  size_t visible; ///< number of file-level constants before it
};

/// The parts of a file and of the files that it imports.
struct ModelParts {
  std::vector<Constant> constants;    ///< in the order of their definition
  llvm::StringMap<size_t> constantOf; ///< indices of the constants, by name
  std::vector<Chunk> chunks;          ///< in the order of the text
  std::map<llvm::StringRef, BlockTemplate> templates;
};

/// Constants that an expression may use.
struct ConstantScope {
  const ModelParts &parts;
  size_t visible; ///< number of file-level constants that are defined before the expression
  llvm::ArrayRef<BlockConstant> blockConstants;
  llvm::ArrayRef<ConstantValue> blockValues; ///< of the block constants

  /// Returns the value of a constant. Returns null and sets the message for a name that is none.
  const ConstantValue *lookUp(llvm::StringRef name, std::string &message) const;
};

/// Whether a constant may have the name.
bool isConstantName(llvm::StringRef name);

/// Returns "; did you mean 'width'?" if a known name is similar to `name`, or else `otherwise`.
std::string suggestName(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> known,
                        const llvm::Twine &otherwise);

/// Reads the main file and the files that it imports, which are added to `files`. Reports errors.
llvm::FailureOr<ModelParts> readParts(SourceFiles &files, Imports imports);

} // namespace trainc
