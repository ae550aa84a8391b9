// Issues the steps of programs: to the device, collectives to the communicator.
#pragma once

#include "runtime/comm/communicator.h"
#include "runtime/device/device.h"
#include "runtime/exec/program.h"

namespace trainc {

/// Where the steps of one plan go.
class Issuer {
public:
  /// `communicator` may be null where programs hold no collectives.
  Issuer(const fb::Plan &plan, Device &device, Communicator *communicator)
      : plan_(plan), device_(device), communicator_(communicator) {}

  /// Issues one step in one iteration of its block. Fails (kFailed), with the instruction's place and source,
  /// where it waits for a collective that cannot be completed.
  Status issue(const Program &program, const Step &step, uint64_t iteration);
  /// Waits until the device has done what was issued.
  void synchronise() { device_.synchronise(); }

private:
  void launch(const Program &program, const LaunchStep &launch, uint64_t iteration);
  void start(const Program &program, const StartStep &start);
  Status wait(const Program &program, const Step &step, uint32_t slot);

  const fb::Plan &plan_;
  Device &device_;
  Communicator *communicator_;
};

} // namespace trainc
