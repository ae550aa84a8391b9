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

/// A message of an editor: the message for the server, or the answer to one that no server takes.
struct EditorMessage {
  std::optional<std::string> toServer, answer;
};

/// Tracks the texts that an editor has open. For models, the server's diagnostics, hovers and completions are
/// replaced by those of the model language, and definitions are added that the server does not find. The two
/// functions may be called concurrently.
class Conversation {
public:
  explicit Conversation(const mlir::DialectRegistry &registry) : registry_(registry) {}

  /// Tracks the texts in an editor's message. Returns the message for the server: unchanged, unless the
  /// server has no time or stack to parse its text, which is then shortened. Returns an answer instead if
  /// JSON is no message of JSON-RPC, at which the server would end, or nested deeper than any message.
  EditorMessage fromEditor(std::string message);

  /// Returns the message for the editor: the server's message, but with this object's diagnostics or answer
  /// if it is about a model's text.
  std::string fromServer(std::string message);

private:
  /// A document, and the facts from the last time it had no error.
  struct Document {
    std::string text;
    ModelFacts facts;
    bool isShortened = false; ///< whether the server has a shortened text instead
  };
  /// A question that the server is about to answer.
  struct Question {
    std::string method;
    std::string file;
    llvm::lsp::Position position;
  };

  void follow(llvm::StringRef method, llvm::json::Object &message);
  void shorten(Document &document, llvm::json::Object &message);
  std::optional<std::string> textOf(llvm::StringRef file);
  std::optional<std::string> published(llvm::json::Object message);
  std::optional<std::string> answered(llvm::json::Object message);
  std::optional<llvm::json::Value> answer(const Question &question, const Document &document,
                                          const llvm::json::Object &message) const;
  std::optional<std::string> readText(const std::string &file) const;

  const mlir::DialectRegistry &registry_;
  std::mutex mutex_;
  std::map<std::string, Document, std::less<>> documents_; ///< by path
  std::map<std::string, Question, std::less<>> questions_; ///< by the message's id
};

} // namespace trainc
