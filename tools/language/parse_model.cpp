#include "tools/language/parse_model.h"

#include "tools/language/expand_model.h"
#include "tools/language/syntax_errors.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace trainc {

namespace {

/// File name of an expanded text, in locations that are not those of the user's files.
constexpr StringRef kExpandedName = "<expanded>";

/// Maps locations in an expanded text to the positions where a model's author wrote it, and replaces messages
/// of the parser by messages in terms of the model language.
class Translator {
public:
  /// `parsed` holds the expanded text, of which `written` holds the parts.
  Translator(llvm::SourceMgr &parsed, llvm::SourceMgr &written, const ExpandedText &expanded,
             MLIRContext &context)
      : parsed_(parsed), written_(written), expanded_(expanded), context_(context) {}

  /// Translates a message of the parser.
  void translate(Diagnostic &diagnostic) const {
    const size_t offset = offsetOf(diagnostic.getLocation()->findInstanceOf<FileLineColLoc>());
    const SourcePosition position = expanded_.positionOf(offset);
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error) { // from an op of ours
      Diagnostic own(locationOf(written_, position, context_), diagnostic.getSeverity());
      own << diagnostic.str();
      diagnostic = std::move(own);
      return;
    }
    const TextPosition found(written_.getMemoryBuffer(position.buffer)->getBuffer(), position.offset);
    SyntaxError error = explainSyntaxError(diagnostic.str(), found, context_);
    showReplacement(error.text, found, expanded_.replacementAt(offset));
    Diagnostic own(locationOf(written_, {position.buffer, error.offset.value_or(position.offset)}, context_),
                   DiagnosticSeverity::Error);
    own << error.text;
    for (const BlockCopy &copy : expanded_.copiesAt(offset))
      if (copy.use)
        own.attachNote(locationOf(written_, *copy.use, context_)) << describeUse(copy);
    diagnostic = std::move(own);
  }

  /// Replaces the locations of all ops, values and lines of programs.
  void restoreLocations(ModuleOp module) const {
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](FileLineColLoc loc) -> std::optional<Attribute> {
      if (loc.getFilename() != kExpandedName)
        return std::nullopt;
      if (loc.getLine() == 0) // the module
        return FileLineColLoc::get(
            &context_, written_.getMemoryBuffer(written_.getMainFileID())->getBufferIdentifier(), 0, 0);
      return locationOf(written_, positionOf(loc), context_);
    });
    replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/true);
  }

private:
  /// Adds the number that replaces a constant to a message that shows the constant.
  static void showReplacement(std::string &message, const TextPosition &position, StringRef replacement) {
    const std::string found = "found " + position.describe();
    const size_t at = message.find(found);
    if (position.token().starts_with("$") && !replacement.empty() && at != std::string::npos)
      message.insert(at + found.size(), (", which is " + replacement).str());
  }

  /// Returns the written position of a location in the expanded text.
  SourcePosition positionOf(FileLineColLoc loc) const { return expanded_.positionOf(offsetOf(loc)); }

  /// Returns the offset of a location in the expanded text; its end if the location is none in it.
  size_t offsetOf(FileLineColLoc loc) const {
    const StringRef text = expanded_.text();
    const unsigned id = parsed_.getMainFileID();
    const llvm::SMLoc found =
        loc ? parsed_.FindLocForLineAndColumn(id, loc.getLine(), loc.getColumn()) : llvm::SMLoc();
    const char *begin = parsed_.getMemoryBuffer(id)->getBufferStart();
    return found.isValid() ? static_cast<size_t>(found.getPointer() - begin) : text.size();
  }

  llvm::SourceMgr &parsed_, &written_;
  const ExpandedText &expanded_;
  MLIRContext &context_;
};

/// Translates a message of the verifier. Its notes name values by the position of their definition.
void translateVerifier(Diagnostic &diagnostic) {
  const bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
  const std::optional<std::string> text = isError ? explainVerifierError(diagnostic.str()) : std::nullopt;
  if (!text)
    return;
  Diagnostic own(diagnostic.getLocation(), DiagnosticSeverity::Error);
  own << *text;
  for (Diagnostic &note : diagnostic.getNotes())
    own.attachNote(note.getLocation()) << "it is defined here";
  diagnostic = std::move(own);
}

/// Runs `work` with a diagnostic handler that applies `translate` to messages before they are printed.
template <typename Work, typename Translate>
auto runTranslated(MLIRContext &context, Translate translate, Work work) {
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    translate(diagnostic);
    return failure(); // passes the diagnostic to the previous handler, which prints it
  });
  return work();
}

} // namespace

OwningOpRef<ModuleOp> parseModel(llvm::SourceMgr &sources, MLIRContext &context, Imports imports) {
  for (StringRef dialect : {"nn", "train"})
    context.getOrLoadDialect(dialect); // messages may name ops before the first op of their dialect is parsed
  const FailureOr<ExpandedText> expanded = expandModel(sources, context, imports);
  if (failed(expanded))
    return nullptr;
  llvm::SourceMgr parsed;
  parsed.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(expanded->text(), kExpandedName), llvm::SMLoc());
  const Translator translator(parsed, sources, *expanded, context);
  OwningOpRef<ModuleOp> module = runTranslated(
      context, [&](Diagnostic &diagnostic) { translator.translate(diagnostic); },
      [&] { return parseSourceFile<ModuleOp>(parsed, ParserConfig(&context, /*verifyAfterParse=*/false)); });
  if (module)
    translator.restoreLocations(*module);
  if (module && failed(runTranslated(context, translateVerifier, [&] { return verify(*module); })))
    return nullptr;
  return module;
}

} // namespace trainc
