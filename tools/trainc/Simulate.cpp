// `trainc simulate`: predicts a plan's training step on a cluster, from the plan file alone.
#include "base/plain_text.h"
#include "base/print.h"
#include "plan/file/file.h"
#include "tools/trainc/Commands.h"
#include "tools/trainc/Paths.h"
#include "tools/trainc/SimulatedText.h"

namespace trainc {

static Status runSimulation(const SimulateCommand &command) {
  TRAINC_RETURN_IF_ERROR(requireRegularFile(command.plan));
  TRAINC_ASSIGN_OR_RETURN(const Cluster cluster, openCluster(command.cluster));
  TRAINC_ASSIGN_OR_RETURN(const PlanFile file, PlanFile::open(command.plan));
  const Result<Simulation> step = simulate(file.plan(), cluster);
  if (!step.ok())
    return invalidInput("{}: {}", command.plan, step.status().message());
  return command.json ? printOutput(printableJson(simulatedJson(file.plan(), cluster, *step)))
                      : printText(simulatedText(file.plan(), cluster, *step, command.rows));
}

int runSimulate(const SimulateCommand &command) { return finish(runSimulation(command)); }

} // namespace trainc
