#include "tools/trainc/ModelFile.h"

#include "base/lack_of_memory.h"
#include "base/plain_text.h"
#include "lib/Pipelines/Pipeline.h"
#include "plan/file/file.h"
#include "tools/common/llvm_tools.h"
#include "tools/language/parse_model.h"
#include "tools/language/text_check.h"
#include "tools/trainc/Paths.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "llvm/Support/ErrorHandling.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace trainc {

namespace {

constexpr size_t kMaxBytes = size_t{256} << 20;

Status tooLarge(const std::string &name) {
  return invalidInput("{}: expected a model of at most {} MiB", name, kMaxBytes >> 20);
}

Result<std::string> readAll(std::FILE *file, const std::string &name) {
  std::string text, chunk(size_t{64} << 10, '\0');
  while (!std::feof(file) && !std::ferror(file)) {
    text.append(chunk, 0, std::fread(chunk.data(), 1, chunk.size(), file));
    if (text.size() > kMaxBytes)
      return tooLarge(name);
  }
  if (std::ferror(file))
    return invalidInput("{}: cannot read: {}", name, std::strerror(errno));
  return text;
}

} // namespace

/// Fails if a file is not text; the message says what it is.
static Status checkIsText(llvm::MemoryBufferRef buffer) {
  const std::string name = buffer.getBufferIdentifier().str();
  const llvm::StringRef text = buffer.getBuffer();
  if (beginsPlanFile(std::as_bytes(std::span(text))))
    return invalidInput(
        "{0}: expected a model's text, found a plan, which is compiled already: `trainrun {0}` "
        "runs it, `trainc dump {0}` prints it",
        name);
  if (mlir::isBytecode(buffer))
    return invalidInput("{}: expected a model's text, found MLIR bytecode; trainc-opt prints it", name);
  if (const std::optional<std::string> problem = describeNonText(text, name))
    return invalidInput("{}", *problem);
  if (const std::optional<TextProblem> problem = findUnparsable(text))
    return invalidInput("{}", describe(*problem, name));
  return {};
}

Result<std::unique_ptr<llvm::MemoryBuffer>> readModel(const std::string &path) {
  const bool isInput = path == "-";
  if (Status status = isInput ? Status() : requireRegularFile(path); !status.ok())
    return invalidInput("{}; - reads standard input", status.message());
  std::FILE *file = isInput ? stdin : std::fopen(path.c_str(), "rb");
  if (!file)
    return invalidInput("cannot open input file '{}': {}", path, std::strerror(errno));
  Result<std::string> text = readAll(file, isInput ? "standard input" : path);
  if (!isInput)
    std::fclose(file);
  if (!text.ok())
    return text.status();
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(*text, isInput ? "<stdin>" : printable(path));
  TRAINC_RETURN_IF_ERROR(checkIsText(*buffer));
  return buffer;
}

/// Makes LLVM's out-of-memory handlers print a message before the process ends.
static void explainLimits() {
  llvm::install_bad_alloc_error_handler([](void *, const char *reason, bool) { giveUp(kNoMemory, reason); });
  llvm::install_fatal_error_handler([](void *, const char *reason, bool) {
    giveUp("the compiler cannot go on (do limits of the system forbid threads or memory? see ulimit -a)",
           reason);
  });
}

static mlir::DialectRegistry allDialects() {
  explainLimits();
  allowLostMessages();
  mlir::DialectRegistry registry;
  registerDialects(registry);
  return registry;
}

static llvm::SourceMgr withText(std::unique_ptr<llvm::MemoryBuffer> text) {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(text), llvm::SMLoc());
  return sources;
}

void EscapedErrors::write_impl(const char *begin, size_t size) {
  written_ += size;
  line_.append(begin, size);
  if (line_.find('\n') != std::string::npos)
    writeAll();
}

void EscapedErrors::writeAll() {
  llvm::errs() << printable(line_, "\n\t");
  line_.clear();
}

llvm::raw_ostream &EscapedErrors::changeColor(Colors color, bool bold, bool background) {
  writeAll();
  llvm::errs().changeColor(color, bold, background);
  return *this;
}

llvm::raw_ostream &EscapedErrors::resetColor() {
  writeAll();
  llvm::errs().resetColor();
  return *this;
}

ParsedModel::ParsedModel(std::unique_ptr<llvm::MemoryBuffer> text)
    : context_(allDialects()), sources_(withText(std::move(text))),
      diagnostics_(sources_, &context_, errors_) {
  context_.printOpOnDiagnostic(
      false); // the generic form, which users did not write, may have thousands of lines
  module_ = parseModel(sources_, context_);
}

} // namespace trainc
