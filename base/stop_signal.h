// Graceful stop on a signal, after the current step, evaluation batch or token.
#pragma once

namespace trainc {

/// Effect of a second signal after a stop was requested.
enum class SecondSignal {
  kEndsProcess, ///< a second SIGINT or SIGTERM ends the process at once
  kLeftToParent ///< the parent process decides; it may forward one signal that this process already received
};

/// Makes SIGINT, SIGTERM and SIGHUP (unless nohup ignored it) request a stop. A second SIGHUP has no effect,
/// because a closing terminal sends two. Call it only when stopSignal() is polled from then on; before the
/// call, signals keep their default action.
void catchStopSignals(SecondSignal second = SecondSignal::kEndsProcess);

/// Name of the signal that requested a stop, or null.
const char *stopSignal();

} // namespace trainc
