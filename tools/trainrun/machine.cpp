#include "tools/trainrun/machine.h"

#include "runtime/device/cpu/cpu_device.h"
#include "runtime/device/null/null_device.h"

#include <algorithm>

namespace trainc {

unsigned defaultThreads(const Rank &rank) { return std::max(1U, availableCpus() / rank.localRanks); }

Machine Machine::open(const std::string &device, unsigned threads) {
  Machine machine;
  if (device == "null") {
    machine.device_ = std::make_unique<NullDevice>();
    return machine;
  }
  auto cpu = std::make_unique<CpuDevice>(threads);
  machine.threads_ = cpu->threads();
  machine.device_ = std::move(cpu);
  return machine;
}

} // namespace trainc
