// Ending a run by signal, after the step, evaluation batch or token in progress.
#pragma once

namespace trainc {

/// From now on SIGINT, SIGTERM and SIGHUP (unless nohup had it ignored) only ask for a stop. A second SIGINT
/// or SIGTERM ends the process at once; a closing terminal sends SIGHUP twice. Call it where stopSignal() is
/// asked from then on: until there, signals do what they always do.
void catchStopSignals();

/// The name of the signal that asked for a stop, or null.
const char *stopSignal();

} // namespace trainc
