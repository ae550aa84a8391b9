// Where the time of entries goes.
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

/// What all instructions of one name took: a kernel by its symbol, library calls, copies, zeroings,
/// collectives by kind, waits for those ("wait for all-gather": where communication is exposed).
struct ProfileRow {
  std::string_view entry;
  ProfileKind kind;
  std::string what;     ///< see StepFacts
  std::string source;   ///< the first op it came from, and its line
  uint64_t sources = 0; ///< how many instructions share the row
  uint64_t calls = 0;
  double seconds = 0;
  double flops = 0;                                  ///< of all calls; 0 where unknown
  double bytes = 0;                                  ///< of all calls
  std::optional<double> leastSeconds = std::nullopt; ///< of all calls, by the device's rates
  double predictedSeconds = 0;                       ///< of all calls, as the plan says; 0 where unknown

  double gigabytesPerSecond() const { return seconds > 0 ? bytes / seconds * 1e-9 : 0; }
  double gigaflopsPerSecond() const { return seconds > 0 ? flops / seconds * 1e-9 : 0; }
  /// The share of what the device can do at most: 1 is its roofline. Caches may give more.
  std::optional<double> rooflineShare() const {
    return leastSeconds && seconds > 0 ? std::optional(*leastSeconds / seconds) : std::nullopt;
  }
  /// Adds what another row has.
  void add(const ProfileRow &other);
};

/// All that was measured of a run.
struct Profile {
  DeviceRates rates;
  std::vector<ProfileRow> rows; ///< one per entry and `what` (equal layers share rows), the slowest first
  uint64_t steps = 0;           ///< of the training
  double stepSeconds = 0;       ///< of all of them, with what the host does between entries
  double idleSeconds = 0;       ///< in which no stream worked, and none waited for a collective
};

/// Collects the seconds of every instruction of the plan.
class Profiler final : public StepObserver {
public:
  Profiler(const fb::Plan &plan, DeviceRates rates) : plan_(plan), rates_(std::move(rates)) {}

  /// Makes room for a program's steps, so that nothing is allocated when it runs for the second time. The
  /// program must outlive the profiler's rows.
  void reserve(const Program &program);
  bool isListening() const override { return true; }
  void onStep(const Step &step, TimeSpan span) override;
  void onWait(const Step &step, TimeSpan span) override;

  void beginTrainingStep() { isInStep_ = true; }
  void endTrainingStep(TimeSpan step);

  /// Of this rank's training steps so far, if the device tells when collectives ran, and nothing is under
  /// way.
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
    Clock ran, waited; ///< the step; for it
  };
  ProfileRow describe(const Sample &sample) const;
  ProfileRow describeWait(const Sample &sample) const;
  std::vector<ProfileRow> rows() const;

  const fb::Plan &plan_;
  DeviceRates rates_;
  std::unordered_map<const fb::Instruction *, Sample> samples_;
  bool isInStep_ = false;
  std::vector<TimeSpan> busy_; ///< in the training step under way
  CommunicationSpans communication_;
  uint64_t steps_ = 0;
  double stepSeconds_ = 0, idleSeconds_ = 0;
};

} // namespace trainc
