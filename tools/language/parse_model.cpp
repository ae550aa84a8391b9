#include "tools/language/parse_model.h"

#include "tools/language/property_names.h"
#include "tools/language/syntax_errors.h"
#include "tools/language/text_check.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace trainc {

namespace {

/// Replaces messages of the parser by messages in terms of the model language.
class Translator {
public:
  Translator(llvm::SourceMgr &sources, MLIRContext &context)
      : sources_(sources), context_(context), id_(sources.getMainFileID()),
        text_(sources.getMemoryBuffer(id_)->getBuffer()) {}

  /// Translates a message of the parser.
  void translate(Diagnostic &diagnostic) const {
    const auto place = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>();
    const SyntaxError error =
        explainSyntaxError(diagnostic.str(), TextPosition(text_, offsetOf(place)), context_);
    Diagnostic own(error.offset ? locationOf(*error.offset, place) : diagnostic.getLocation(),
                   DiagnosticSeverity::Error);
    own << error.text;
    diagnostic = std::move(own);
  }

private:
  size_t offsetOf(FileLineColLoc place) const {
    const llvm::SMLoc found =
        place ? sources_.FindLocForLineAndColumn(id_, place.getLine(), place.getColumn()) : llvm::SMLoc();
    return found.isValid() ? static_cast<size_t>(found.getPointer() - text_.data()) : text_.size();
  }

  Location locationOf(size_t offset, FileLineColLoc place) const {
    const auto [line, column] =
        sources_.getLineAndColumn(llvm::SMLoc::getFromPointer(text_.data() + offset), id_);
    return place ? Location(FileLineColLoc::get(place.getFilename(), line, column))
                 : UnknownLoc::get(&context_);
  }

  llvm::SourceMgr &sources_;
  MLIRContext &context_;
  unsigned id_;
  StringRef text_;
};

/// Translates a message of the verifier. Its notes name values by the place of their definition.
void translateVerifier(Diagnostic &diagnostic) {
  const std::optional<std::string> text = explainVerifierError(diagnostic.str());
  if (!text)
    return;
  Diagnostic own(diagnostic.getLocation(), DiagnosticSeverity::Error);
  own << *text;
  for (Diagnostic &note : diagnostic.getNotes())
    own.attachNote(note.getLocation()) << "it is defined here";
  diagnostic = std::move(own);
}

/// Runs `work` with a diagnostic handler that applies `translate` to errors before they are printed.
template <typename Work, typename Translate>
auto runTranslated(MLIRContext &context, Translate translate, Work work) {
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      translate(diagnostic);
    return failure(); // passes the diagnostic to the previous handler, which prints it
  });
  return work();
}

} // namespace

OwningOpRef<ModuleOp> parseModel(llvm::SourceMgr &sources, MLIRContext &context) {
  for (StringRef dialect : {"nn", "train"})
    context.getOrLoadDialect(dialect); // messages may name ops before the first op of their dialect is parsed
  const llvm::MemoryBuffer &text = *sources.getMemoryBuffer(sources.getMainFileID());
  std::optional<TextProblem> problem = findBadText(text.getBuffer());
  if (!problem)
    problem = findUnknownProperty(text.getBuffer(), context);
  if (problem) {
    emitError(FileLineColLoc::get(&context, text.getBufferIdentifier(), problem->line, problem->column))
        << problem->message;
    return nullptr;
  }
  const Translator translator(sources, context);
  OwningOpRef<ModuleOp> module = runTranslated(
      context, [&](Diagnostic &diagnostic) { translator.translate(diagnostic); },
      [&] { return parseSourceFile<ModuleOp>(sources, ParserConfig(&context, /*verifyAfterParse=*/false)); });
  if (module && failed(runTranslated(context, translateVerifier, [&] { return verify(*module); })))
    return nullptr;
  return module;
}

} // namespace trainc
