// Ending a run by signal, after the step, evaluation batch or token in progress.
#pragma once

namespace trainc {

/// Who ends a process that has been asked to stop already.
enum class SecondSignal {
  kEndsProcess, ///< a second SIGINT or SIGTERM does, at once
  kLeftToParent ///< its parent, which hands on one signal that it may have got from elsewhere as well
};

/// From now on SIGINT, SIGTERM and SIGHUP (unless nohup had it ignored) only ask for a stop. A closing
/// terminal sends SIGHUP twice, so a second one changes nothing. Call it where stopSignal() is asked from
/// then on: until there, signals do what they always do.
void catchStopSignals(SecondSignal second = SecondSignal::kEndsProcess);

/// The name of the signal that asked for a stop, or null.
const char *stopSignal();

} // namespace trainc
