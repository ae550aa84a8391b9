#include "base/stop_signal.h"

#include <csignal>

namespace trainc {

namespace {

volatile std::sig_atomic_t received = 0;

void onSignal(int signal) { received = signal; }

} // namespace

void catchStopSignals(SecondSignal second) {
  struct sigaction action{};
  action.sa_handler = onSignal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  struct sigaction before{};
  if (sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
    sigaction(SIGHUP, &action, nullptr);
  if (second == SecondSignal::kEndsProcess)
    action.sa_flags |= static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

const char *stopSignal() {
  switch (received) {
  case SIGINT:
    return "SIGINT";
  case SIGTERM:
    return "SIGTERM";
  case SIGHUP:
    return "SIGHUP";
  default:
    return nullptr;
  }
}

} // namespace trainc
