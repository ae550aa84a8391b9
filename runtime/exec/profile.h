// Where the time of entries goes.
#pragma once

#include "runtime/device/device.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace trainc {

/// What rows can be summed by.
enum class ProfileKind { Gemm, Attention, Kernel, Move, Communication };

/// What all instructions of one name took: a kernel by its symbol, library calls, copies, zeroings,
/// collectives by kind.
struct ProfileRow {
  std::string_view entry;
  ProfileKind kind;
  std::string what;   ///< "rows_5f3a", "gemm_1024x2304x768_nn_07c1", "matrix product", "copy", "zero", "start
                      ///< all-gather", "wait for all-gather": where communication is exposed
  std::string source; ///< the first op it came from, and its line
  uint64_t sources = 0; ///< how many instructions share the row
  uint64_t calls = 0;
  double seconds = 0;
  double flops = 0; ///< of all calls; 0 where unknown
  double bytes = 0; ///< read and written by all calls, each argument counted once a use; none for collectives

  double gigabytesPerSecond() const { return seconds > 0 ? bytes / seconds * 1e-9 : 0; }
  double gigaflopsPerSecond() const { return seconds > 0 ? flops / seconds * 1e-9 : 0; }
};

/// Collects the seconds of every instruction of the plan.
class Profiler final : public StepObserver {
public:
  explicit Profiler(const fb::Plan &plan) : plan_(plan) {}

  /// Makes room for a program's steps, so that nothing is allocated when it runs. The program must outlive
  /// the profiler's rows.
  void reserve(const Program &program);
  void onStep(const Step &step, double seconds) override {
    samples_.find(step.instruction)->second.ran.add(seconds);
  }
  void onWait(const Step &step, double seconds) override {
    samples_.find(step.instruction)->second.waited.add(seconds);
  }

  /// One row per entry and `what` (equal layers share rows), the slowest first.
  std::vector<ProfileRow> rows() const;

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
  ProfileRow rowOf(const Sample &sample, const Clock &clock) const;

  const fb::Plan &plan_;
  std::unordered_map<const fb::Instruction *, Sample> samples_;
};

} // namespace trainc
