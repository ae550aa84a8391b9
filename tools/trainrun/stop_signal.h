// Ending a run by signal, after the step, evaluation batch or token in progress.
#pragma once

namespace trainc {

/// From now on SIGINT and SIGTERM only ask for a stop; a second one ends the process at once. A file that
/// grows beyond a limit gives an error instead of a signal.
void installSignals();

/// The name of the signal that asked for a stop, or null.
const char *stopSignal();

} // namespace trainc
