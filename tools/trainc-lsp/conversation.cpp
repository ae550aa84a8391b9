#include "tools/trainc-lsp/conversation.h"

#include "base/input_file.h"
#include "base/json_text.h"
#include "tools/language/expand_model.h"
#include "tools/language/text_check.h"
#include "tools/trainc-lsp/model_check.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/LSP/Protocol.h"

#include <algorithm>

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

/// The JSON object of a message; nothing for invalid JSON.
std::optional<json::Object> parseMessage(llvm::StringRef message) {
  llvm::Expected<json::Value> value = json::parse(message);
  if (!value) {
    llvm::consumeError(value.takeError()); // the server reports the error to the editor
    return std::nullopt;
  }
  json::Object *object = value->getAsObject();
  return object ? std::optional(std::move(*object)) : std::nullopt;
}

std::string textOfMessage(json::Object object) {
  return llvm::formatv("{0}", json::Value(std::move(object)));
}

/// Whether MLIR's server takes the message for a request, a notification or an answer. It ends at others.
bool isRequest(const json::Object &message) {
  return message.getString("jsonrpc") == llvm::StringRef("2.0") &&
         (message.getString("method") || message.get("id"));
}

/// Whether arrays and objects are within each other more often than in any message. The time and stack of
/// JSON's parsers grow faster than the depth.
bool isNestedTooDeep(llvm::StringRef message) {
  size_t depth = 0;
  bool isInString = false;
  for (size_t at = 0; at < message.size(); ++at) {
    const char c = message[at];
    if (isInString && c == '\\')
      ++at;
    else if (c == '"')
      isInString = !isInString;
    else if (!isInString && (c == '[' || c == '{') && ++depth > kMaxJsonDepth)
      return true;
    else if (!isInString && (c == ']' || c == '}') && depth > 0)
      --depth;
  }
  return false;
}

/// The answer to a message that is none of JSON-RPC. `message` is null if it is no object, or not parsed.
std::string invalidRequest(const json::Object *message, llvm::StringRef expected) {
  const json::Value *id = message ? message->get("id") : nullptr;
  json::Object error{{"code", int(lsp::ErrorCode::InvalidRequest)},
                     {"message", ("expected " + expected).str()}};
  return textOfMessage(
      json::Object{{"jsonrpc", "2.0"}, {"id", id ? *id : json::Value(nullptr)}, {"error", std::move(error)}});
}

/// The text without long numbers, and without constants and imports if it is a model's; an empty line for
/// each line if brackets are nested too deep in it.
std::string parsableText(llvm::StringRef text) {
  std::string parsable = withoutLongNumbers(isModelFile(text) ? maskExpansions(text) : text.str());
  if (findUnparsable(parsable))
    std::ranges::replace_if(parsable, [](char c) { return c != '\n'; }, ' ');
  return parsable;
}

/// The id of a message that wants an answer, or is one: a number or a string.
std::optional<std::string> idOf(const json::Object &message) {
  const json::Value *id = message.get("id");
  return id ? std::optional<std::string>(llvm::formatv("{0}", *id)) : std::nullopt;
}

} // namespace

EditorMessage Conversation::fromEditor(std::string message) {
  if (isNestedTooDeep(message))
    return {std::nullopt, invalidRequest(nullptr, "JSON that is nested at most " +
                                                      std::to_string(kMaxJsonDepth) + " deep")};
  llvm::Expected<json::Value> value = json::parse(message);
  if (!value) {
    llvm::consumeError(value.takeError()); // the server reports the error to the editor
    return {std::move(message), std::nullopt};
  }
  json::Object *object = value->getAsObject();
  if (!object || !isRequest(*object))
    return {std::nullopt, invalidRequest(object, "a JSON object with \"jsonrpc\": \"2.0\" and a \"method\"")};
  const std::optional<llvm::StringRef> method = object->getString("method");
  if (!method || !object->get("params"))
    return {std::move(message), std::nullopt};
  const std::lock_guard lock(mutex_);
  follow(method->str(), *object);
  const bool changesText = *method == "textDocument/didOpen" || *method == "textDocument/didChange";
  return {changesText ? textOfMessage(std::move(*object)) : std::move(message), std::nullopt};
}

/// Has the server see a text that its parser has stack and time for, of the same length, so that places stay.
/// From then on it gets whole texts.
void Conversation::shorten(Document &document, json::Object &message) {
  std::string shortened = parsableText(document.text);
  if (!document.isShortened && shortened == document.text)
    return;
  document.isShortened = true;
  json::Object &params = *message.getObject("params");
  if (json::Object *opened = params.getObject("textDocument"); opened && opened->get("text"))
    (*opened)["text"] = std::move(shortened);
  else
    params["contentChanges"] = json::Array{json::Object{{"text", std::move(shortened)}}};
}

void Conversation::follow(llvm::StringRef method, json::Object &message) {
  const json::Value &params = *message.get("params");
  if (method == "textDocument/didOpen") {
    if (const auto opened = read<lsp::DidOpenTextDocumentParams>(params)) {
      Document &document = documents_[opened->textDocument.uri.file().str()];
      document = {.text = opened->textDocument.text, .facts = {}, .isShortened = false};
      shorten(document, message);
    }
  } else if (method == "textDocument/didClose") {
    if (const auto closed = read<lsp::DidCloseTextDocumentParams>(params))
      documents_.erase(closed->textDocument.uri.file().str());
  } else if (method == "textDocument/didChange") {
    const auto changed = read<lsp::DidChangeTextDocumentParams>(params);
    const auto document = changed ? documents_.find(changed->textDocument.uri.file()) : documents_.end();
    if (document == documents_.end())
      return;
    if (failed(lsp::TextDocumentContentChangeEvent::applyTo(changed->contentChanges, document->second.text)))
      documents_.erase(document); // an edit that cannot be applied; the server reports it
    else
      shorten(document->second, message);
  } else if (method == "textDocument/hover" || method == "textDocument/completion" ||
             method == "textDocument/definition") {
    const auto asked = read<lsp::TextDocumentPositionParams>(params);
    const std::optional<std::string> id = idOf(message);
    if (asked && id)
      questions_[*id] = {method.str(), asked->textDocument.uri.file().str(), asked->position};
  }
}

std::optional<std::string> Conversation::textOf(llvm::StringRef file) {
  const std::lock_guard lock(mutex_);
  const auto document = documents_.find(file);
  return document == documents_.end() ? std::nullopt : std::optional(document->second.text);
}

/// The message with the compiler's diagnostics in place of the server's; nothing if the text is no model's.
/// It is written at once, as JSON only refers to the addresses of documents.
std::optional<std::string> Conversation::published(json::Object message) {
  json::Object *params = message.getObject("params");
  lsp::URIForFile uri;
  json::Path::Root root;
  const json::Value *address = params ? params->get("uri") : nullptr;
  if (!address || !lsp::fromJSON(*address, uri, root))
    return std::nullopt;
  const std::optional<std::string> text = textOf(uri.file());
  std::optional<ModelCheck> check = text ? checkModel(*text, uri, registry_) : std::nullopt;
  if (!check)
    return std::nullopt;
  (*params)["diagnostics"] = json::Array(check->diagnostics);
  std::string written = textOfMessage(std::move(message));
  const std::lock_guard lock(mutex_);
  const auto document = documents_.find(uri.file());
  if (check->facts && document != documents_.end())
    document->second.facts = std::move(*check->facts);
  return written;
}

/// The text of a file: of the document if an editor has it open.
std::optional<std::string> Conversation::readText(const std::string &file) const {
  if (const auto open = documents_.find(file); open != documents_.end())
    return open->second.text;
  Result<std::string> text = readWholeFile(file);
  return text.ok() ? std::optional(std::move(*text)) : std::nullopt;
}

/// Our answer to a question about a model; nothing if the server's message has the answer.
std::optional<json::Value> Conversation::answer(const Question &question, const Document &document,
                                                const json::Object &message) const {
  const TextPlace place{document.text, question.position};
  if (question.method == "textDocument/completion")
    return completionsAt(place, document.facts);
  if (question.method == "textDocument/hover") {
    const std::optional<std::string> found = hoverAt(place, document.facts);
    return found ? json::Value(
                       json::Object{{"contents", json::Object{{"kind", "markdown"}, {"value", *found}}}})
                 : nullptr;
  }
  if (const json::Array *found = message.getArray("result"); found && !found->empty())
    return std::nullopt;
  const std::vector<SourceText> files =
      withImports({question.file, document.text}, [this](const std::string &file) { return readText(file); });
  const std::optional<lsp::Location> found = definitionAt(place, files);
  if (!found)
    return std::nullopt;
  // A Location as JSON would refer to the text of its address.
  return json::Array{json::Object{{"uri", found->uri.uri().str()}, {"range", found->range}}};
}

/// The message with our answer in place of the server's; nothing if it is to another question, or of a text
/// that is no model's.
std::optional<std::string> Conversation::answered(json::Object message) {
  const std::optional<std::string> id = idOf(message);
  const std::lock_guard lock(mutex_);
  const auto asked = id ? questions_.find(*id) : questions_.end();
  if (asked == questions_.end())
    return std::nullopt;
  const Question question = asked->second;
  questions_.erase(asked);
  const auto document = documents_.find(question.file);
  if (document == documents_.end() || !isModelFile(document->second.text))
    return std::nullopt;
  std::optional<json::Value> result = answer(question, document->second, message);
  if (!result)
    return std::nullopt;
  message["result"] = std::move(*result);
  message.erase("error");
  return textOfMessage(std::move(message));
}

std::string Conversation::fromServer(std::string message) {
  std::optional<json::Object> object = parseMessage(message);
  if (!object)
    return message;
  const std::optional<llvm::StringRef> method = object->getString("method");
  std::optional<std::string> changed;
  if (!method)
    changed = answered(std::move(*object));
  else if (*method == "textDocument/publishDiagnostics")
    changed = published(std::move(*object));
  return changed ? std::move(*changed) : message;
}

} // namespace trainc
