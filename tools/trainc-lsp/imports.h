// Files that a model's text imports.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace trainc {

/// A line `import "file"` of a text.
struct ImportLine {
  int number;           ///< from 0
  llvm::StringRef text; ///< the whole line
  llvm::StringRef file; ///< as written: relative to the file of the text
};

/// The lines that import files, in their order.
std::vector<ImportLine> importsOf(llvm::StringRef text);

/// The path of the file that a line in `importer` imports.
std::string importedPath(llvm::StringRef importer, const ImportLine &line);

/// A file, and its text.
struct SourceText {
  std::string file;
  std::string text;
};

/// Returns `main` and the files that it imports, each once, an importer before what it imports. `read`
/// returns the text of a file, or nothing if it cannot be read.
std::vector<SourceText> withImports(SourceText main,
                                    llvm::function_ref<std::optional<std::string>(const std::string &)> read);

} // namespace trainc
