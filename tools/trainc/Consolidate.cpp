// `trainc consolidate`: a thin shell over runtime/state.
#include "runtime/state/consolidate.h"
#include "runtime/base/print.h"
#include "runtime/state/checkpoint_folder.h"
#include "tools/trainc/Commands.h"
#include "tools/trainc/LongWork.h"
#include "tools/trainc/Paths.h"

namespace trainc {

static Status consolidate(const ConsolidateCommand &command) {
  TRAINC_ASSIGN_OR_RETURN(const WeightSource source, openWeightSource(command.checkpoint));
  const bool isLatestOfFolder = source.path != command.checkpoint;
  if (const std::string found = describeLookalikes(command.checkpoint); isLatestOfFolder && !found.empty())
    putMessage(stderr, fmt::format("warning: {}\n", found));
  std::vector<NamedPath> inputs;
  for (const std::filesystem::path &input : source.inputs)
    inputs.push_back({fmt::format("the input '{}'", input.string()), input});
  TRAINC_RETURN_IF_ERROR(checkOutputs({{"-o " + command.output, command.output}}, inputs));
  ConsolidateOptions options{.dtype = command.dtype, .output = command.output};
  return runLongWork("consolidated", [&](const auto &progress) {
    options.progress = progress;
    return consolidate(source, options);
  });
}

int runConsolidate(const ConsolidateCommand &command) { return finish(consolidate(command)); }

} // namespace trainc
