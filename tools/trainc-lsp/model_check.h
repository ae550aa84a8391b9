// What `trainc compile` says of a model's text, as a language server says it.
#pragma once

#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/LSP/Protocol.h"

#include <optional>
#include <vector>

namespace trainc {

/// The errors, warnings and remarks of the document `uri` with that `text`. Nothing if the text is no model
/// or program of a user's: what later phases make, functions, several modules in one file, or what is nested
/// too deep to be parsed here.
std::optional<std::vector<llvm::lsp::Diagnostic>>
checkModel(llvm::StringRef text, const llvm::lsp::URIForFile &uri, const mlir::DialectRegistry &registry);

} // namespace trainc
