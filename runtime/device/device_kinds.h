// The registry of devices: the values of --device.
#pragma once

#include "plan/schema/targets.h"
#include "runtime/comm/communicator_kinds.h"
#include "runtime/device/device.h"

#include <memory>
#include <span>

namespace trainc {

/// A device of one rank.
struct DevicePlace {
  RankPlace rank;
  unsigned threads = 1; ///< CPU threads of the rank
  uint64_t seed = 0;    ///< of random orders (--device-seed)
  /// The communicator that the ConnectRanks of the plan's target returned; null for a single rank and in dry
  /// runs.
  Communicator *communicator = nullptr;
};

/// An open device and its number of CPU threads: fewer than requested if the system starts no more.
struct OpenedDevice {
  std::unique_ptr<Device> device;
  unsigned threads = 1;
};

using OpenDevice = Result<OpenedDevice>(const DevicePlace &place);

/// A kind of device.
struct DeviceKind {
  std::string_view name;   ///< "cuda"
  std::string_view target; ///< of the plans that it runs; empty: it computes nothing, with any plan
  std::string_view help;   ///< end of a sentence
  OpenDevice *open;        ///< null if the build lacks the device
  bool takesSeed = false;  ///< whether --device-seed draws its orders

  bool computes() const { return !target.empty(); }
};

std::span<const DeviceKind> deviceKinds();

/// Returns the kind named `name`; null for "auto".
const DeviceKind *findDeviceKind(std::string_view name);

/// Returns the default kind for plans for `target`; null if there is none.
const DeviceKind *deviceOfTarget(std::string_view target);

/// Opens a device of the kind `name` or, for "auto", the default kind for `target`. Fails like its
/// OpenDevice, and with kInvalidInput if the build lacks the device.
Result<OpenedDevice> openDevice(std::string_view name, const TargetTraits &target, const DevicePlace &place);

/// Returns the error that this program lacks the device that plans for `target` need.
Status lacksDevice(const TargetTraits &target);

} // namespace trainc
