#include "tools/trainc-lsp/model_check.h"

#include "dialects/Train/Train.h"
#include "lib/Instantiate/Instantiate.h"
#include "tools/language/nesting.h"
#include "tools/language/parse_model.h"

#include "mlir/Tools/lsp-server-support/SourceMgrUtils.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
namespace protocol = llvm::lsp;

namespace trainc {

namespace {

/// Whether models, blocks and programs are at the top level, as in a user's file. Later phases print them
/// inside a module.
bool isModelFile(StringRef text) {
  constexpr StringRef kModuleSeparator = "// -----";
  bool found = false;
  for (StringRef rest = text, line; !rest.empty();) {
    std::tie(line, rest) = rest.split('\n');
    line = line.trim();
    if (line == kModuleSeparator || line.starts_with("module"))
      return false;
    found |= llvm::any_of(ArrayRef<StringRef>{"nn.model", "nn.block", "train.program"},
                          [&](StringRef op) { return line.starts_with(op); });
  }
  return found;
}

protocol::DiagnosticSeverity severityOf(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return protocol::DiagnosticSeverity::Error;
  case DiagnosticSeverity::Warning:
    return protocol::DiagnosticSeverity::Warning;
  case DiagnosticSeverity::Note:
  case DiagnosticSeverity::Remark:
    return protocol::DiagnosticSeverity::Information;
  }
  llvm_unreachable("a severity");
}

/// The word at a location; the begin of the text if the location has none.
protocol::Range rangeOf(Location location, llvm::SourceMgr &sources) {
  const auto place = location->findInstanceOf<FileLineColLoc>();
  const llvm::SMLoc found =
      place ? sources.FindLocForLineAndColumn(sources.getMainFileID(), place.getLine(), place.getColumn())
            : llvm::SMLoc();
  if (!found.isValid())
    return {};
  return {sources, mlir::lsp::convertTokenLocToRange(found, /*identifierChars=*/"$-.")};
}

protocol::Diagnostic publishable(Diagnostic &diagnostic, const protocol::URIForFile &uri,
                                 llvm::SourceMgr &sources) {
  protocol::Diagnostic result;
  result.range = rangeOf(diagnostic.getLocation(), sources);
  result.severity = severityOf(diagnostic.getSeverity());
  result.source = "trainc";
  result.message = diagnostic.str();
  std::vector<protocol::DiagnosticRelatedInformation> notes;
  for (Diagnostic &note : diagnostic.getNotes())
    notes.emplace_back(protocol::Location(uri, rangeOf(note.getLocation(), sources)), note.str());
  if (!notes.empty())
    result.relatedInformation = std::move(notes);
  return result;
}

} // namespace

std::optional<std::vector<protocol::Diagnostic>> checkModel(StringRef text, const protocol::URIForFile &uri,
                                                            const DialectRegistry &registry) {
  const llvm::MemoryBufferRef buffer(text, uri.file());
  if (!isModelFile(text) || findDeepNesting(buffer))
    return std::nullopt;
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, uri.file()), llvm::SMLoc());

  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  std::vector<protocol::Diagnostic> found;
  ScopedDiagnosticHandler collect(
      &context, [&](Diagnostic &diagnostic) { found.push_back(publishable(diagnostic, uri, sources)); });
  if (OwningOpRef<ModuleOp> module = parseModel(sources, context)) {
    // A file without a program may be incomplete, or a part of another.
    const bool hasProgram = !module->getOps<train::ProgramOp>().empty();
    (void)(hasProgram ? instantiate(*module) : checkModelText(*module));
  }
  return found;
}

} // namespace trainc
