// Time of each kind of instruction.
#pragma once

#include "runtime/device/device.h"
#include "runtime/exec/communication_spans.h"
#include "runtime/exec/step_facts.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace trainc {

/// Total of all instructions of one name. Kernels are named by symbol; library calls, copies, zeroings and
/// collectives by kind. Waits for collectives ("wait for all-gather") have rows of their own; they are
/// exposed communication.
struct ProfileRow {
  std::string_view entry;
  ProfileKind kind;
  std::string what;     ///< see StepFacts
  std::string source;   ///< first source op and its line
  uint64_t sources = 0; ///< number of instructions in the row
  uint64_t calls = 0;
  double seconds = 0;
  double flops = 0;                                ///< of all calls; 0 if unknown
  double bytes = 0;                                ///< of all calls
  std::optional<double> minSeconds = std::nullopt; ///< lower bound for all calls by the device's rates
  double predictedSeconds = 0;                     ///< of all calls, as predicted in the plan; 0 if unknown

  double gigabytesPerSecond() const { return seconds > 0 ? bytes / seconds * 1e-9 : 0; }
  double gigaflopsPerSecond() const { return seconds > 0 ? flops / seconds * 1e-9 : 0; }
  /// Fraction of the roofline: 1 is the device's peak. Caches may give more.
  std::optional<double> rooflineShare() const {
    return minSeconds && seconds > 0 ? std::optional(*minSeconds / seconds) : std::nullopt;
  }
  /// Adds the measurements of another row.
  void add(const ProfileRow &other);
};

/// Measurements of a run.
struct Profile {
  DeviceRates rates;
  std::vector<ProfileRow> rows; ///< one per entry and `what` (equal layers share rows), slowest first
  uint64_t steps = 0;           ///< number of training steps
  double stepSeconds = 0;       ///< total of all steps, including host time between entries
  double idleSeconds = 0;       ///< time in which no stream worked and none waited for a collective
};

/// Measures the time of every instruction of the plan.
class Profiler final : public StepObserver {
public:
  Profiler(const fb::Plan &plan, DeviceRates rates) : plan_(plan), rates_(std::move(rates)) {}

  /// Allocates the rows of a program, so that its second run does not allocate. The program must outlive the
  /// profiler's rows.
  void reserve(const Program &program);
  bool isListening() const override { return true; }
  void onStep(const Step &step, TimeSpan span) override;
  void onWait(const Step &step, TimeSpan span) override;

  void beginTrainingStep() { isInStep_ = true; }
  void endTrainingStep(TimeSpan step);

  /// Communication times of this rank's training steps so far, if the device reports when collectives ran.
  /// Call it only when nothing is in flight.
  CommunicationSeconds communication() { return communication_.seconds(); }
  Profile profile() const;

private:
  struct Clock {
    uint64_t calls = 0;
    double seconds = 0;

    void add(double more) {
      ++calls;
      seconds += more;
    }
  };
  struct Sample {
    const Program *program;
    const Step *step;
    Clock ran, waited; ///< the step itself, and waits for it
  };
  ProfileRow describe(const Sample &sample) const;
  ProfileRow describeWait(const Sample &sample) const;
  std::vector<ProfileRow> rows() const;

  const fb::Plan &plan_;
  DeviceRates rates_;
  std::unordered_map<const fb::Instruction *, Sample> samples_;
  bool isInStep_ = false;
  std::vector<TimeSpan> busy_; ///< in the current training step
  CommunicationSpans communication_;
  uint64_t steps_ = 0;
  double stepSeconds_ = 0, idleSeconds_ = 0;
};

} // namespace trainc
