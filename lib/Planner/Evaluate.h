// Evaluation of strategies: from settings to bytes and seconds.
#pragma once

#include "lib/Planner/Memory.h"
#include "plan/settings/setting.h"
#include "plan/simulate/plan_schedule.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/LogicalResult.h"

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace trainc {

/// Settings that a strategy decides, with their values.
using Settings = std::vector<train::GivenSetting>;

/// Floating-point operations of a rank in a training step: the model's, and those of recomputation.
struct StepFlops {
  int64_t model = 0, recomputed = 0;
};

/// Memory and predicted time of a plan that has not been lowered to code.
struct Evaluation {
  MemoryReport memory;   ///< its `peak` is exact, because addresses are assigned
  StepSeconds step;      ///< of a training step
  StepFlops flops;       ///< of a rank in a training step
  int64_t sentBytes = 0; ///< by each rank in a training step
  /// Headroom in bytes of a rank's share of its node's host memory (host_memory); negative if it is exceeded.
  int64_t hostLeft = std::numeric_limits<int64_t>::max();

  double seconds() const { return step.total; }
  /// Bytes that count against the memory limit.
  int64_t bytes() const { return memory.needed(); }
  /// Headroom in bytes: the smaller of device and host. Negative if the plan does not fit.
  int64_t left(int64_t limit) const { return std::min(limit - bytes(), hostLeft); }
  bool fits(int64_t limit) const { return left(limit) >= 0; }
  /// Whether this plan exceeds the host's memory by less than `than`, or by as much and takes fewer bytes.
  bool isSmaller(const Evaluation &than) const {
    return std::pair(-std::min<int64_t>(hostLeft, 0), bytes()) <
           std::pair(-std::min<int64_t>(than.hostLeft, 0), than.bytes());
  }
  /// Whether this plan takes no more seconds and no more bytes than `than`, and fewer of one of them.
  bool dominates(const Evaluation &than) const {
    return seconds() <= than.seconds() && bytes() <= than.bytes() &&
           (seconds() < than.seconds() || bytes() < than.bytes());
  }
};

/// Settings of a strategy, and their evaluation.
struct EvaluatedStrategy {
  Settings decided;
  Evaluation plan;
};

/// Returns the index of the fastest strategy that fits, the first of equally fast ones; none if none fits.
std::optional<size_t> fastest(llvm::ArrayRef<EvaluatedStrategy> strategies, int64_t limit);
/// Returns the index of the strategy that exceeds the host's memory the least. Of several such strategies, it
/// is the one with the fewest bytes. `strategies` must not be empty.
size_t smallest(llvm::ArrayRef<EvaluatedStrategy> strategies);

/// Evaluates strategies of one model. Methods fail with the errors of a compilation.
class Evaluate {
public:
  virtual ~Evaluate() = default;
  /// Returns the evaluations of strategies, in their order. They may be made in parallel; the result does not
  /// depend on the number of threads.
  virtual llvm::FailureOr<std::vector<Evaluation>> evaluate(llvm::ArrayRef<Settings> strategies) = 0;
  /// Returns an approximate lower bound of the bytes of a strategy. It also holds for strategies with another
  /// level of recomputation, and for those with smaller micro-batches, several per step.
  virtual llvm::FailureOr<int64_t> lowerBoundBytes(const Settings &strategy) = 0;
};

/// Cache of evaluated strategies, numbered in the order of requests.
class Evaluations {
public:
  explicit Evaluations(Evaluate &evaluate) : evaluate_(evaluate) {}

  /// Evaluates those strategies that have not been evaluated. Returns the numbers of all `strategies`.
  llvm::FailureOr<std::vector<size_t>> add(llvm::ArrayRef<Settings> strategies);
  /// Returns the evaluations of strategies that need not become candidates: they get no numbers until add().
  llvm::FailureOr<std::vector<Evaluation>> probe(llvm::ArrayRef<Settings> strategies);
  llvm::FailureOr<int64_t> lowerBoundBytes(const Settings &strategy);

  size_t size() const { return all_.size(); }
  /// References are valid until the next add().
  const Evaluation &operator[](size_t number) const { return all_[number].plan; }
  const std::vector<EvaluatedStrategy> &all() const { return all_; }

  /// Returns the number of the fastest strategy that fits, the first of equally fast ones.
  std::optional<size_t> fastest(int64_t limit) const { return trainc::fastest(all_, limit); }
  /// Returns the number of the smallest strategy. At least one must have been added.
  size_t smallest() const { return trainc::smallest(all_); }

private:
  llvm::LogicalResult make(llvm::ArrayRef<Settings> strategies);

  Evaluate &evaluate_;
  std::map<Settings, Evaluation> made_; ///< with those of probe()
  std::vector<EvaluatedStrategy> all_;
  std::map<Settings, size_t> numbers_;
  std::map<Settings, int64_t> lowerBounds_;
};

} // namespace trainc
