// Messages between an editor and a language server about models.
#pragma once

#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/JSON.h"

#include <map>
#include <mutex>
#include <string>

namespace trainc {

/// Tracks the texts that an editor has open, and replaces the server's diagnostics by those of `trainc
/// compile`. The two functions may be called concurrently.
class Conversation {
public:
  explicit Conversation(const mlir::DialectRegistry &registry) : registry_(registry) {}

  /// Records an editor's message, and returns it unchanged.
  std::string fromEditor(std::string message);

  /// Returns a server's message; diagnostics of a model's text are replaced.
  std::string fromServer(std::string message);

private:
  void follow(llvm::StringRef method, const llvm::json::Value &params);
  std::optional<std::string> textOf(llvm::StringRef file);

  const mlir::DialectRegistry &registry_;
  std::mutex mutex_;
  std::map<std::string, std::string, std::less<>> texts_; ///< by path
};

} // namespace trainc
