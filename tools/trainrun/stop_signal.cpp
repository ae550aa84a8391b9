#include "tools/trainrun/stop_signal.h"

#include <csignal>

namespace trainc {

namespace {

volatile std::sig_atomic_t received = 0;

void onSignal(int signal) { received = signal; }

} // namespace

void installSignals() {
  struct sigaction action{};
  action.sa_handler = onSignal;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGXFSZ, SIG_IGN);
}

const char *stopSignal() {
  switch (received) {
  case SIGINT:
    return "SIGINT";
  case SIGTERM:
    return "SIGTERM";
  default:
    return nullptr;
  }
}

} // namespace trainc
