// What an editor and a language server say to each other about models.
#pragma once

#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/JSON.h"

#include <map>
#include <mutex>
#include <string>

namespace trainc {

/// The texts that an editor has open, and the server's reproaches in the words of `trainc compile`. Its two
/// functions may run at the same time.
class Conversation {
public:
  explicit Conversation(const mlir::DialectRegistry &registry) : registry_(registry) {}

  /// Follows an editor's message, and returns it as it is.
  std::string fromEditor(std::string message);

  /// A server's message, with other diagnostics if it publishes those of a model's text.
  std::string fromServer(std::string message);

private:
  void follow(llvm::StringRef method, const llvm::json::Value &params);
  std::optional<std::string> textOf(llvm::StringRef file);

  const mlir::DialectRegistry &registry_;
  std::mutex mutex_;
  std::map<std::string, std::string, std::less<>> texts_; ///< by path
};

} // namespace trainc
