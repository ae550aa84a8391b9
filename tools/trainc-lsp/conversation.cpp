#include "tools/trainc-lsp/conversation.h"

#include "tools/trainc-lsp/model_check.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/LSP/Protocol.h"

namespace json = llvm::json;
namespace lsp = llvm::lsp;

namespace trainc {

namespace {

/// Parses `value` as a `Params` of the protocol; nothing on failure.
template <typename Params> std::optional<Params> read(const json::Value &value) {
  Params params;
  json::Path::Root root;
  return lsp::fromJSON(value, params, root) ? std::optional(std::move(params)) : std::nullopt;
}

/// The JSON object of a message with a method; nothing for responses and invalid JSON.
std::optional<json::Object> parseMessage(llvm::StringRef message) {
  llvm::Expected<json::Value> value = json::parse(message);
  if (!value) {
    llvm::consumeError(value.takeError()); // the server reports the error to the editor
    return std::nullopt;
  }
  json::Object *object = value->getAsObject();
  if (!object || !object->getString("method") || !object->get("params"))
    return std::nullopt;
  return std::move(*object);
}

} // namespace

std::string Conversation::fromEditor(std::string message) {
  if (const std::optional<json::Object> object = parseMessage(message))
    follow(*object->getString("method"), *object->get("params"));
  return message;
}

void Conversation::follow(llvm::StringRef method, const json::Value &params) {
  const std::lock_guard lock(mutex_);
  if (method == "textDocument/didOpen") {
    if (const auto opened = read<lsp::DidOpenTextDocumentParams>(params))
      texts_[opened->textDocument.uri.file().str()] = opened->textDocument.text;
  } else if (method == "textDocument/didClose") {
    if (const auto closed = read<lsp::DidCloseTextDocumentParams>(params))
      texts_.erase(closed->textDocument.uri.file().str());
  } else if (method == "textDocument/didChange") {
    const auto changed = read<lsp::DidChangeTextDocumentParams>(params);
    const auto text = changed ? texts_.find(changed->textDocument.uri.file()) : texts_.end();
    if (text != texts_.end() &&
        failed(lsp::TextDocumentContentChangeEvent::applyTo(changed->contentChanges, text->second)))
      texts_.erase(text); // an edit that cannot be applied; the server reports it
  }
}

std::optional<std::string> Conversation::textOf(llvm::StringRef file) {
  const std::lock_guard lock(mutex_);
  const auto text = texts_.find(file);
  return text == texts_.end() ? std::nullopt : std::optional(text->second);
}

std::string Conversation::fromServer(std::string message) {
  std::optional<json::Object> object = parseMessage(message);
  if (!object || *object->getString("method") != "textDocument/publishDiagnostics")
    return message;
  json::Object *params = object->getObject("params");
  lsp::URIForFile uri;
  json::Path::Root root;
  const json::Value *address = params ? params->get("uri") : nullptr;
  if (!address || !lsp::fromJSON(*address, uri, root))
    return message;
  const std::optional<std::string> text = textOf(uri.file());
  const auto found = text ? checkModel(*text, uri, registry_) : std::nullopt;
  if (!found)
    return message;
  (*params)["diagnostics"] = json::Array(*found);
  return llvm::formatv("{0}", json::Value(std::move(*object)));
}

} // namespace trainc
