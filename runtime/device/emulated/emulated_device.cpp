#include "runtime/device/emulated/emulated_device.h"

#include <algorithm>

namespace trainc {

namespace {

/// An entry, and its counterpart for the CPU device with real addresses.
class EmulatedExecutable final : public Executable {
public:
  EmulatedExecutable(Program program, std::unique_ptr<Executable> real)
      : Executable(std::move(program)), real_(std::move(real)) {}
  Executable &real() { return *real_; }

private:
  std::unique_ptr<Executable> real_;
};

Executable &realOf(Executable &executable) { return static_cast<EmulatedExecutable &>(executable).real(); }

Program inRealMemory(Program program, const Untouchable &addresses) {
  const auto move = [&](DeviceAddress &address) { address = addresses.real(address); };
  for (Address &arg : program.args)
    move(arg.base);
  for (CollectiveRange &range : program.ranges) {
    move(range.source);
    move(range.destination);
  }
  for (Step &step : program.steps) {
    if (auto *copy = std::get_if<CopyStep>(&step.operation)) {
      move(copy->source.base);
      move(copy->destination.base);
    } else if (auto *zero = std::get_if<ZeroStep>(&step.operation)) {
      move(zero->destination.base);
    }
  }
  return program;
}

/// Fill byte that makes numbers of every float type NaN.
constexpr std::byte kNotYetRead{0xff};
/// Maximum number of steps that run before a host call returns.
constexpr uint64_t kTurnsAhead = 64;

} // namespace

std::string EmulatedDevice::description() const {
  return fmt::format("emulated asynchronous device, seed {}, on {}", seed_, cpu_.description());
}

Result<DeviceAddress> EmulatedDevice::allocate(std::string_view name, fb::Space space, uint64_t bytes,
                                               Communicator *communicator) {
  cpu_.keepDiskArenasIn(diskFolder());
  TRAINC_ASSIGN_OR_RETURN(const DeviceAddress real, cpu_.allocate(name, space, bytes, communicator));
  return addresses_.standFor(real, name, bytes);
}

Result<std::unique_ptr<Executable>> EmulatedDevice::prepare(Program program, Communicator *communicator,
                                                            StepObserver *observer) {
  TRAINC_ASSIGN_OR_RETURN(std::unique_ptr<Executable> real,
                          cpu_.prepare(inRealMemory(program, addresses_), communicator, observer));
  return std::unique_ptr<Executable>(
      std::make_unique<EmulatedExecutable>(std::move(program), std::move(real)));
}

void EmulatedDevice::enqueue(Executable &executable, StepRange steps) {
  runSome();
  Executable &real = realOf(executable);
  waiting_.push_back(Steps{&real, Interleaving(real.program(), steps, random_)});
}

void EmulatedDevice::write(DeviceAddress destination, std::span<const std::byte> source) {
  runSome();
  waiting_.push_back(Write{addresses_.real(destination), source});
}

void EmulatedDevice::read(std::span<std::byte> destination, DeviceAddress source) {
  std::ranges::fill(destination, kNotYetRead);
  waiting_.push_back(Read{destination, addresses_.real(source)});
}

Status EmulatedDevice::synchronise() {
  while (advance()) {
  }
  return status_;
}

Status EmulatedDevice::runStep(Executable &executable, uint32_t step, uint64_t iteration) {
  TRAINC_RETURN_IF_ERROR(synchronise());
  return status_ = cpu_.runStep(realOf(executable), step, iteration);
}

/// Runs a random number of steps, as a device might on its own. Stops before collectives: a peer's host may
/// be anywhere, and this host must not wait for it here.
void EmulatedDevice::runSome() {
  for (uint64_t turns = random_() % 2 * (random_() % kTurnsAhead); turns > 0 && !waiting_.empty(); --turns) {
    if (const auto *steps = std::get_if<Steps>(&waiting_.front()); steps && steps->order.mayWait())
      return;
    advance();
  }
}

/// Runs one step or copy; returns false if nothing is left.
bool EmulatedDevice::advance() {
  if (waiting_.empty())
    return false;
  if (!status_.ok()) {
    waiting_.clear();
    return false;
  }
  auto &front = waiting_.front();
  if (auto *steps = std::get_if<Steps>(&front)) {
    if (const std::optional<Turn> turn = steps->order.next()) {
      status_ = cpu_.runStep(*steps->executable, turn->step, turn->iteration);
      return true;
    }
  } else if (const auto *write = std::get_if<Write>(&front)) {
    cpu_.write(write->destination, write->source);
  } else {
    const auto &read = std::get<Read>(front);
    cpu_.read(read.destination, read.source);
  }
  waiting_.pop_front();
  return true;
}

Status EmulatedDevice::readBeside(std::span<std::byte> destination, DeviceAddress source) {
  return cpu_.readBeside(destination, addresses_.real(source));
}

Status EmulatedDevice::writeBeside(DeviceAddress destination, std::span<const std::byte> source) {
  return cpu_.writeBeside(addresses_.real(destination), source);
}

} // namespace trainc
