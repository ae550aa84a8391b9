// trainc-opt: reads a module, runs the passes named on the command line, and prints the module. For tests and
// inspection.
#include "base/plain_text.h"
#include "lib/Pipelines/Pipeline.h"
#include "tools/common/llvm_tools.h"
#include "tools/language/text_check.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

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

/// Finds text that messages must not show, or that MLIR's parser has no stack or time for. Skips unreadable
/// files, which MLIR reports; pipes, which can be read only once; and bytecode, which is no text.
std::optional<std::string> findUnparsableIn(const std::string &path) {
  if (!llvm::sys::fs::is_regular_file(path))
    return std::nullopt;
  const auto file = llvm::MemoryBuffer::getFile(path);
  if (!file || mlir::isBytecode(**file))
    return std::nullopt;
  if (std::optional<std::string> hidden = trainc::describeNonText((*file)->getBuffer(), path))
    return hidden;
  const std::optional<trainc::TextProblem> problem = trainc::findUnparsable((*file)->getBuffer());
  return problem ? std::optional(trainc::describe(*problem, path)) : std::nullopt;
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
  if (const std::optional<std::string> problem = findUnparsableIn(input))
    return fail(*problem);
  const int code = mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));
  if (const std::optional<std::string> error = trainc::flushOutput())
    return fail(*error);
  return code;
}
