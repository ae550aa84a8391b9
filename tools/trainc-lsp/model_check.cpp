#include "tools/trainc-lsp/model_check.h"

#include "base/plain_text.h"
#include "dialects/Train/Train.h"
#include "lib/Instantiate/Instantiate.h"
#include "lib/Support/SourceName.h"
#include "tools/language/parse_model.h"
#include "tools/language/text_check.h"

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
    found |= llvm::any_of(ArrayRef<StringRef>{"nn.model", "nn.block", "train.program"},
                          [&](StringRef op) { return line.starts_with(op); });
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
  result.message = printable(diagnostic.str(), "\n\t");
  std::vector<protocol::DiagnosticRelatedInformation> notes;
  for (Diagnostic &note : diagnostic.getNotes())
    notes.emplace_back(protocol::Location(uri, rangeOf(note.getLocation(), sources)),
                       printable(note.str(), "\n\t"));
  if (!notes.empty())
    result.relatedInformation = std::move(notes);
  return result;
}

/// The types of the results of what a training step has made of an op: those of its last op. A use of a block
/// gives the values at its boundary.
ModelFacts factsOf(ModuleOp module) {
  ModelFacts facts;
  for (auto state : module.getOps<train::StateOp>())
    if (state.getRole() == train::StateRole::parameter)
      facts.parameters.push_back(state.getSymName().str());
  auto step = findEntry<train::EntryOp>(module, EntryKind::micro_step);
  for (Operation &op : step.getBody().front()) {
    const FileLineColLoc place = fileLocation(op.getLoc());
    auto marker = dyn_cast<train::BlockUseOp>(op);
    const TypeRange types = marker ? TypeRange(marker.getOutputs()) : TypeRange(op.getResults());
    if (!place || types.empty())
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
      check.facts = factsOf(*module);
  }
  return check;
}

} // namespace trainc
