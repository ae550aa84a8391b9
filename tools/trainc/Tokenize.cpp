// `trainc tokenize`: a thin shell over runtime/data.
#include "runtime/data/tokenize.h"
#include "runtime/base/print.h"
#include "runtime/data/file_patterns.h"
#include "tools/trainc/Commands.h"
#include "tools/trainc/LongWork.h"
#include "tools/trainc/Paths.h"

#include <fmt/format.h>

namespace trainc {

/// The output and its sidecar against the texts and the tokenizer's files.
static Status checkPaths(const TokenizeCommand &command) {
  std::vector<NamedPath> inputs;
  TRAINC_ASSIGN_OR_RETURN(const std::vector<std::filesystem::path> texts, expandPatterns(command.texts));
  for (const std::filesystem::path &text : texts) {
    TRAINC_RETURN_IF_ERROR(requireRegularFile(text));
    inputs.push_back({fmt::format("the text '{}'", text.string()), text});
  }
  const std::filesystem::path tokenizer = command.tokenizer;
  for (const std::filesystem::path &file :
       {tokenizer, tokenizer / "tokenizer.json", tokenizer / "vocab.json", tokenizer / "merges.txt"})
    if (command.tokenizer != "bytes")
      inputs.push_back({fmt::format("the tokenizer's '{}'", file.string()), file});
  const std::filesystem::path sidecar = sidecarPath(command.output);
  return checkOutputs(
      {{"-o " + command.output, command.output},
       {fmt::format("-o {}, which writes '{}' too,", command.output, sidecar.string()), sidecar}},
      inputs);
}

int runTokenize(const TokenizeCommand &command) {
  if (Status status = checkPaths(command); !status.ok())
    return finish(status);
  TokenizeOptions options;
  options.tokenizer = command.tokenizer;
  options.texts = command.texts;
  options.output = command.output;
  options.endToken = command.endToken;
  return finish(runLongWork("tokenized", [&](const auto &progress) {
    options.progress = progress;
    return tokenize(options);
  }));
}

} // namespace trainc
