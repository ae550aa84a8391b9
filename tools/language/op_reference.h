// Ops that a model's text may use, with their texts in the reference pages.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// Text of the page of docs with the path `name` in that folder.
std::string_view referencePage(std::string_view name);

/// An op of the language.
struct OpReference {
  std::string name;    ///< with its dialect: "nn.gelu"
  std::string summary; ///< a line of Markdown
  std::string syntax;  ///< "nn.gelu %x [approximate tanh]"; empty if the description has an example instead
  std::string description;          ///< Markdown; may be empty
  std::vector<std::string> clauses; ///< words of its syntax, in their order
};

/// Reads the ops of `page`, a page of the dialect nn, that people write. The last line of `examples`, the
/// page ops.md, lists the ops that only passes create (a test checks that it lists all).
std::vector<OpReference> readOps(llvm::StringRef page, llvm::StringRef examples);

/// The ops that people write. The first call reads them from the pages.
const std::vector<OpReference> &opReferences();

/// Returns the op `name`; null if the language has no such op.
const OpReference *findOpReference(llvm::StringRef name);

} // namespace trainc
