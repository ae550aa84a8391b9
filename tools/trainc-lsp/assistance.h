// Hover, completion and definitions in a model's text, in the words of the language.
#pragma once

#include "plan/settings/settings.h"
#include "tools/trainc-lsp/imports.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/LSP/Protocol.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace trainc {

/// Facts of a model that the compiler has instantiated.
struct ModelFacts {
  std::map<unsigned, std::vector<std::string>> resultTypes; ///< types of op results, by line, from 1
  std::vector<std::string> parameters;                      ///< full names
};

/// A place in a document.
struct TextPlace {
  llvm::StringRef text;
  llvm::lsp::Position position;
};

/// A setting's help, values and option, as Markdown.
std::string describeSetting(const train::Setting &setting);

/// Markdown about the op, value, block or setting at `place`; nothing at other places.
std::optional<std::string> hoverAt(const TextPlace &place, const ModelFacts &facts);

/// Returns the completions at `place`, as a CompletionList of the protocol.
llvm::json::Value completionsAt(const TextPlace &place, const ModelFacts &facts);

/// The definition of the block, model, program or constant at `place`, in the first file that has one.
std::optional<llvm::lsp::Location> definitionAt(const TextPlace &place, llvm::ArrayRef<SourceText> files);

} // namespace trainc
