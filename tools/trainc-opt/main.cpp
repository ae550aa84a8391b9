// trainc-opt: reads a module, runs the passes named on the command line, and prints the module. For tests and
// inspection.
#include "base/plain_text.h"
#include "lib/Pipelines/Pipeline.h"
#include "tools/common/llvm_tools.h"
#include "tools/language/expand_model.h"
#include "tools/language/property_names.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

namespace {

int fail(const std::string &message) {
  llvm::errs() << "error: " << message << "\n";
  return 1;
}

/// Fails for an argument that MLIR's messages would quote with characters that a terminal interprets.
std::optional<std::string> findUnprintable(int argc, char **argv) {
  for (int i = 1; i < argc; ++i)
    if (const std::string shown = trainc::printable(argv[i], "\n\t"); shown != argv[i])
      return "expected arguments without control and invisible characters, found '" + shown + "'";
  return std::nullopt;
}

/// Finds text that messages must not show, that MLIR's parser has no stack or time for, or that it would
/// drop. Skips bytecode, which is no text.
std::optional<std::string> findBadInput(const llvm::MemoryBuffer &input,
                                        const mlir::DialectRegistry &registry) {
  if (mlir::isBytecode(input))
    return std::nullopt;
  const llvm::StringRef text = input.getBuffer(), name = input.getBufferIdentifier();
  if (std::optional<std::string> hidden = trainc::describeNonText(text, name))
    return hidden;
  std::optional<trainc::TextProblem> problem = trainc::findUnparsable(text);
  if (!problem)
    problem = trainc::findExpansion(text);
  if (!problem) {
    mlir::MLIRContext context(registry);
    context.loadAllAvailableDialects();
    problem = trainc::findUnknownProperty(text, context);
  }
  return problem ? std::optional(trainc::describe(*problem, name)) : std::nullopt;
}

/// Runs the passes of the command line on `input`, a file or "-".
int run(const std::string &input, const std::string &output, mlir::DialectRegistry &registry,
        const mlir::MlirOptMainConfig &config) {
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> text = mlir::openInputFile(input, &error);
  if (!text)
    return fail(error);
  if (const std::optional<std::string> problem = findBadInput(*text, registry))
    return fail(*problem);
  const std::unique_ptr<llvm::ToolOutputFile> file = mlir::openOutputFile(output, &error);
  if (!file)
    return fail(error);
  if (failed(mlir::MlirOptMain(file->os(), std::move(text), registry, config)))
    return 1;
  file->keep();
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  trainc::allowLostMessages();
  if (const std::optional<std::string> problem = findUnprintable(argc, argv))
    return fail(*problem);
  trainc::hideLibraryOptions();
  mlir::DialectRegistry registry;
  trainc::registerDialects(registry);
  trainc::registerPasses();
  const auto [input, output] =
      mlir::registerAndParseCLIOptions(argc, argv, "trainc optimizer driver\n", registry);
  const auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  const bool asks = config.shouldShowDialects() || config.shouldListPasses(); // reads no input
  const int code = asks ? mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry))
                        : run(input, output, registry, config);
  if (const std::optional<std::string> error = trainc::flushOutput())
    return fail(*error);
  return code;
}
