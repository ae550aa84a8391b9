// Scalars of a plan: numbers that the host sets and reads, such as the learning rate and the loss.
#pragma once

#include "plan/schema/plan_generated.h"
#include "runtime/device/device.h"

#include <array>
#include <cstring>
#include <deque>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace trainc {

/// Enqueues copies of a plan's scalars. T must have the scalar's size. Plan and device must outlive it.
class PlanScalars {
public:
  explicit PlanScalars(Device &device) : device_(device) {}

  /// Binds the scalars to the addresses of the plan's buffers.
  void bind(const fb::Plan &plan, std::span<const DeviceAddress> buffers);

  /// Sets a scalar for entries enqueued later; returns false if the plan has none of this name.
  template <typename T> bool set(std::string_view name, T value) {
    const std::optional<DeviceAddress> address = addressOf(name, sizeof(T));
    if (address) {
      Bytes &staged = staged_.emplace_back();
      std::memcpy(staged.data(), &value, sizeof(T));
      device_.write(*address, std::span(staged).first(sizeof(T)));
    }
    return address.has_value();
  }
  /// Like set(), for a scalar with an element for each text. `values` must stay valid until
  /// Executor::synchronise().
  template <typename T> bool setAll(std::string_view name, std::span<const T> values) {
    const std::optional<DeviceAddress> address = addressOf(name, values.size_bytes());
    if (address)
      device_.write(*address, std::as_bytes(values));
    return address.has_value();
  }
  /// Copies a scalar to `value`, which must stay alive and is valid after Executor::synchronise(). Returns
  /// false, without a copy, if the plan has none of this name.
  template <typename T> bool read(std::string_view name, T &value) {
    const std::optional<DeviceAddress> address = addressOf(name, sizeof(T));
    if (address)
      device_.read(std::as_writable_bytes(std::span(&value, 1)), *address);
    return address.has_value();
  }
  /// Forgets values that were set. No copy may be in flight.
  void clearStaged() { staged_.clear(); }

private:
  using Bytes = std::array<std::byte, 8>;
  struct Scalar {
    std::string_view name;
    DeviceAddress address;
    uint64_t bytes;
  };

  std::optional<DeviceAddress> addressOf(std::string_view name, size_t bytes) const;

  Device &device_;
  std::vector<Scalar> scalars_;
  std::deque<Bytes> staged_; ///< values in flight to the device
};

} // namespace trainc
