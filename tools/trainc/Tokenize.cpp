// `trainc tokenize` and `trainc dump`: thin shells over the runtime's libraries.
#include "runtime/data/tokenize.h"
#include "runtime/plan/file.h"
#include "tools/trainc/Commands.h"
#include "tools/trainc/Dump.h"

#include <fmt/format.h>
#include <unistd.h>

namespace trainc {

int runTokenize(const TokenizeCommand &command) {
  TokenizeOptions options;
  options.tokenizer = command.tokenizer;
  options.texts = command.texts;
  options.output = command.output;
  options.endToken = command.endToken;
  bool terminal = isatty(STDERR_FILENO);
  if (terminal)
    options.progress = [](uint64_t done, uint64_t total) {
      fmt::print(stderr, "\rtokenized {:.1f} of {:.1f} MB", double(done) / 1e6, double(total) / 1e6);
    };
  Status status = tokenize(options);
  if (terminal)
    fmt::print(stderr, "\n");
  return finish(status);
}

int runDump(const DumpCommand &command) {
  Result<PlanFile> file = PlanFile::open(command.plan);
  if (!file.ok())
    return finish(file.status());
  fmt::print("{}", dumpPlan(file->plan()));
  return 0;
}

} // namespace trainc
