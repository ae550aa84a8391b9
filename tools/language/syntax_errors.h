// MLIR's messages on a model's text, said in terms of the model language.
#pragma once

#include "tools/language/text_position.h"

#include "mlir/IR/MLIRContext.h"

namespace trainc {

/// A message, and the place in the text that it is about; the one of MLIR's message if there is none.
struct SyntaxError {
  std::string text;
  std::optional<size_t> offset = std::nullopt;
};

/// What to say instead of a message of MLIR's parser about the text at `position`. `context` knows the ops.
SyntaxError explainSyntaxError(llvm::StringRef message, const TextPosition &position,
                               mlir::MLIRContext &context);

/// What to say instead of a message of MLIR's verifier; nothing if the message is an op's own.
std::optional<std::string> explainVerifierError(llvm::StringRef message);

} // namespace trainc
