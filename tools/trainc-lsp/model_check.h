// Diagnostics and facts of a model's text from the compiler, for a language server.
#pragma once

#include "tools/trainc-lsp/assistance.h"

#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/LSP/Protocol.h"

#include <optional>
#include <vector>

namespace trainc {

/// Whether a text is a user's model file, and not IR of later phases, functions, or several modules in one
/// file.
bool isModelFile(llvm::StringRef text);

/// Diagnostics and facts of a model's text.
struct ModelCheck {
  std::vector<llvm::lsp::Diagnostic> diagnostics; ///< errors, warnings and remarks
  std::optional<ModelFacts> facts;                ///< set if the text has a program and no error
};

/// Checks the document `uri`, whose content is `text`. Returns nothing if the text is not a model file,
/// unless it is one that no parser has stack or time for.
std::optional<ModelCheck> checkModel(llvm::StringRef text, const llvm::lsp::URIForFile &uri,
                                     const mlir::DialectRegistry &registry);

} // namespace trainc
