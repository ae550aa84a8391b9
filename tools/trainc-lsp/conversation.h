// Messages between an editor and a language server about models.
#pragma once

#include "tools/trainc-lsp/assistance.h"

#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/JSON.h"

#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace trainc {

/// Tracks the texts that an editor has open. For models, the server's diagnostics, hovers and completions are
/// replaced by those of the model language. The two functions may be called concurrently.
class Conversation {
public:
  explicit Conversation(const mlir::DialectRegistry &registry) : registry_(registry) {}

  /// Follows an editor's message. Returns it as it is, unless it has text that the server has no time for.
  std::string fromEditor(std::string message);

  /// A server's message, with other diagnostics or another answer if it is about a model's text.
  std::string fromServer(std::string message);

private:
  /// A document, and what was known of it when it had no error.
  struct Document {
    std::string text;
    ModelFacts facts;
    bool isShortened = false; ///< the server has another text
  };
  /// A question that the server is about to answer.
  struct Question {
    bool isHover;
    std::string file;
    llvm::lsp::Position position;
  };

  void follow(llvm::StringRef method, llvm::json::Object &message);
  void shorten(Document &document, llvm::json::Object &message);
  std::optional<std::string> textOf(llvm::StringRef file);
  std::optional<std::string> published(llvm::json::Object message);
  std::optional<std::string> answered(llvm::json::Object message);

  const mlir::DialectRegistry &registry_;
  std::mutex mutex_;
  std::map<std::string, Document, std::less<>> documents_; ///< by path
  std::map<std::string, Question, std::less<>> questions_; ///< by the message's id
};

} // namespace trainc
