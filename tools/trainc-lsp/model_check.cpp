#include "tools/trainc-lsp/model_check.h"

#include "base/plain_text.h"
#include "dialects/Train/Train.h"
#include "lib/Instantiate/Instantiate.h"
#include "lib/Support/SourceName.h"
#include "tools/language/parse_model.h"
#include "tools/language/text_check.h"
#include "tools/trainc-lsp/imports.h"

#include "mlir/Tools/lsp-server-support/SourceMgrUtils.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
namespace protocol = llvm::lsp;

namespace trainc {

/// Models, blocks and programs are at the top level of a user's file. Later phases print them inside a
/// module.
bool isModelFile(StringRef text) {
  constexpr StringRef kModuleSeparator = "// -----";
  bool found = false;
  for (StringRef rest = text, line; !rest.empty();) {
    std::tie(line, rest) = rest.split('\n');
    line = line.trim();
    if (line == kModuleSeparator || line.starts_with("module"))
      return false;
    found |= llvm::any_of(ArrayRef<StringRef>{"nn.model", "nn.block", "train.program", "let ", "import \""},
                          [&](StringRef begin) { return line.starts_with(begin); });
  }
  return found;
}

namespace {

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

/// The location in a file that the text imports; null if it is in the text itself, or has no file.
FileLineColLoc importedLocation(Location location, llvm::SourceMgr &sources) {
  const auto place = location->findInstanceOf<FileLineColLoc>();
  const StringRef text = sources.getMemoryBuffer(sources.getMainFileID())->getBufferIdentifier();
  return place && place.getFilename() != text ? place : FileLineColLoc();
}

/// Returns the buffer of a file; 0 if it has none.
unsigned bufferOf(StringRef file, const llvm::SourceMgr &sources) {
  for (unsigned buffer = 1; buffer <= sources.getNumBuffers(); ++buffer)
    if (sources.getMemoryBuffer(buffer)->getBufferIdentifier() == file)
      return buffer;
  return 0;
}

/// Returns the line of `importer` that imports a file, if one does.
std::optional<ImportLine> importLine(StringRef file, const llvm::MemoryBuffer &importer) {
  for (const ImportLine &line : importsOf(importer.getBuffer()))
    if (printable(importedPath(importer.getBufferIdentifier(), line)) == file)
      return line;
  return std::nullopt;
}

/// Returns the line of the text that imports a file, or that imports the files that import it; the begin of
/// the text if there is none.
protocol::Range importRange(StringRef file, const llvm::SourceMgr &sources) {
  // A file comes after the file that imports it first.
  for (unsigned importer = 1, end = bufferOf(file, sources); importer < end; ++importer) {
    const std::optional<ImportLine> found = importLine(file, *sources.getMemoryBuffer(importer));
    if (!found)
      continue;
    if (importer != sources.getMainFileID())
      return importRange(sources.getMemoryBuffer(importer)->getBufferIdentifier(), sources);
    return {{found->number, 0}, {found->number, int(found->text.size())}};
  }
  return {};
}

/// Returns the word at a location, in its own file; the begin of the file if it has none.
protocol::Range wordRange(Location location, llvm::SourceMgr &sources) {
  const auto place = location->findInstanceOf<FileLineColLoc>();
  const unsigned buffer = place ? bufferOf(place.getFilename(), sources) : 0;
  const llvm::SMLoc found =
      buffer ? sources.FindLocForLineAndColumn(buffer, place.getLine(), place.getColumn()) : llvm::SMLoc();
  if (!found.isValid())
    return {};
  return {sources, mlir::lsp::convertTokenLocToRange(found, /*identifierChars=*/"$-.")};
}

/// Returns the word at a location, or the line that imports its file.
protocol::Range rangeOf(Location location, llvm::SourceMgr &sources) {
  const FileLineColLoc imported = importedLocation(location, sources);
  return imported ? importRange(imported.getFilename(), sources) : wordRange(location, sources);
}

/// Returns a location in its own file, which may be an imported one.
protocol::Location ownLocation(Location location, const protocol::URIForFile &uri, llvm::SourceMgr &sources) {
  const FileLineColLoc imported = importedLocation(location, sources);
  if (!imported)
    return {uri, wordRange(location, sources)};
  llvm::Expected<protocol::URIForFile> file =
      protocol::URIForFile::fromFile(imported.getFilename().getValue());
  if (file)
    return {*file, wordRange(location, sources)};
  llvm::consumeError(file.takeError());
  return {uri, importRange(imported.getFilename(), sources)};
}

/// The message, which begins with its place if it is about an imported file.
std::string messageOf(Diagnostic &diagnostic, llvm::SourceMgr &sources) {
  const FileLineColLoc imported = importedLocation(diagnostic.getLocation(), sources);
  const std::string place = imported ? (imported.getFilename().getValue() + ":" + Twine(imported.getLine()) +
                                        ":" + Twine(imported.getColumn()) + ": ")
                                           .str()
                                     : "";
  return printable(place + diagnostic.str(), "\n\t");
}

protocol::Diagnostic publishable(Diagnostic &diagnostic, const protocol::URIForFile &uri,
                                 llvm::SourceMgr &sources) {
  protocol::Diagnostic result;
  result.range = rangeOf(diagnostic.getLocation(), sources);
  result.severity = severityOf(diagnostic.getSeverity());
  result.source = "trainc";
  result.message = messageOf(diagnostic, sources);
  std::vector<protocol::DiagnosticRelatedInformation> notes;
  for (Diagnostic &note : diagnostic.getNotes())
    notes.emplace_back(ownLocation(note.getLocation(), uri, sources), printable(note.str(), "\n\t"));
  if (!notes.empty())
    result.relatedInformation = std::move(notes);
  return result;
}

/// The types of the results of what a training step has made of an op: those of its last op. A use of a block
/// gives the values at its boundary. Lines are those of `file`.
ModelFacts factsOf(ModuleOp module, StringRef file) {
  ModelFacts facts;
  for (auto state : module.getOps<train::StateOp>())
    if (state.getRole() == train::StateRole::parameter)
      facts.parameters.push_back(state.getSymName().str());
  auto step = findEntry<train::EntryOp>(module, EntryKind::micro_step);
  for (Operation &op : step.getBody().front()) {
    const FileLineColLoc place = fileLocation(op.getLoc());
    auto marker = dyn_cast<train::BlockUseOp>(op);
    const TypeRange types = marker ? TypeRange(marker.getOutputs()) : TypeRange(op.getResults());
    if (!place || place.getFilename() != file || types.empty())
      continue;
    std::vector<std::string> &known = facts.resultTypes[place.getLine()];
    known.clear();
    for (Type type : types)
      llvm::raw_string_ostream(known.emplace_back()) << type;
  }
  return facts;
}

} // namespace

std::optional<ModelCheck> checkModel(StringRef text, const protocol::URIForFile &uri,
                                     const DialectRegistry &registry) {
  if (!isModelFile(text) && !findUnparsable(text))
    return std::nullopt;
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, uri.file()), llvm::SMLoc());

  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false); // in the generic form, which users did not write
  ModelCheck check;
  ScopedDiagnosticHandler collect(&context, [&](Diagnostic &diagnostic) {
    check.diagnostics.push_back(publishable(diagnostic, uri, sources));
  });
  if (OwningOpRef<ModuleOp> module = parseModel(sources, context)) {
    // A file without a program may be incomplete, or a part of another.
    const bool hasProgram = !module->getOps<train::ProgramOp>().empty();
    if (succeeded(hasProgram ? instantiate(*module) : checkModelText(*module)) && hasProgram)
      check.facts = factsOf(*module, uri.file());
  }
  return check;
}

} // namespace trainc
