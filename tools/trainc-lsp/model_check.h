// Diagnostics of `trainc compile` for a model's text, in the language server's form.
#pragma once

#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/LSP/Protocol.h"

#include <optional>
#include <vector>

namespace trainc {

/// Errors, warnings and remarks of the document `uri` with that `text`. Nothing if the text is not a user's
/// model or program: IR of later phases, functions, several modules in one file, or nesting too deep to
/// parse.
std::optional<std::vector<llvm::lsp::Diagnostic>>
checkModel(llvm::StringRef text, const llvm::lsp::URIForFile &uri, const mlir::DialectRegistry &registry);

} // namespace trainc
