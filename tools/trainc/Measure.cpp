#include "tools/trainc/Measure.h"

#include "base/clock.h"
#include "plan/facts/step_entries.h"
#include "plan/facts/work.h"
#include "plan/schema/entry_names.h"
#include "plan/simulate/plan_schedule.h"
#include "runtime/comm/local/local_group.h"
#include "runtime/device/cpu/cpu_device.h"
#include "runtime/device/cpu/cpu_share.h"
#include "runtime/exec/executor.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <thread>

namespace trainc {

namespace {

// --- Kernels ---

constexpr double kLargeBytes = 1 << 20, kSmallBytes = 1 << 14;
/// Scalar instructions per byte: kernels below the first bound are memory-bound on any machine, those above
/// the second compute-bound.
constexpr double kLittleArithmetic = 1, kMuchArithmetic = 4;

/// Difference of a row to an earlier profile.
struct Measured {
  ProfileKind kind;
  double calls = 0, seconds = 0;
};
using MeasuredRows = std::map<std::pair<std::string, std::string>, Measured>;

void add(const Profile &profile, double sign, MeasuredRows &rows) {
  for (const ProfileRow &row : profile.rows) {
    Measured &sum = rows[{std::string(row.entry), row.what}];
    sum.kind = row.kind;
    sum.calls += sign * double(row.calls);
    sum.seconds += sign * row.seconds;
  }
}

/// Work as in predictions: a profile counts each argument once, even if a product packs it.
std::map<std::string, Work> workByKernel(const fb::Plan &plan) {
  std::map<std::string, Work> found;
  for (const fb::Kernel *kernel : *plan.kernels())
    found[kernel->symbol()->str()] = workOfLaunch(*kernel);
  return found;
}

KernelTimes timesOf(const MeasuredRows &rows, const std::map<std::string, Work> &works) {
  KernelTimes times;
  std::vector<double> small;
  for (const auto &[name, row] : rows) {
    const auto kernel = works.find(name.second);
    if (row.calls <= 0 || kernel == works.end())
      continue;
    const Work &work = kernel->second;
    const KernelTotals totals{.seconds = row.seconds,
                              .flops = row.calls * work.flops,
                              .bytes = row.calls * work.bytes,
                              .arithmetic = row.calls * work.arithmetic};
    const auto addTo = [&](KernelTotals &sum) {
      sum.seconds += totals.seconds;
      sum.flops += totals.flops;
      sum.bytes += totals.bytes;
      sum.arithmetic += totals.arithmetic;
    };
    const bool isLarge = totals.bytes >= kLargeBytes * row.calls;
    if (row.kind == ProfileKind::Gemm)
      addTo(times.products);
    else if (row.kind == ProfileKind::Attention)
      addTo(times.attention);
    else if (isLarge && totals.arithmetic <= kLittleArithmetic * totals.bytes)
      addTo(times.memory);
    else if (isLarge && totals.arithmetic >= kMuchArithmetic * totals.bytes)
      addTo(times.arithmetic);
    else if (totals.bytes < kSmallBytes * row.calls)
      small.push_back(totals.seconds / row.calls);
  }
  if (!small.empty()) {
    std::ranges::nth_element(small, small.begin() + std::ssize(small) / 2);
    times.launchSeconds = small[small.size() / 2];
  }
  return times;
}

// --- Communication between ranks ---

constexpr uint32_t kRanks = 2;
constexpr uint64_t kExchangedElements = 8 << 20, kShortElements = 64;
constexpr int kLongRuns = 4, kShortRuns = 200;

/// Time of one all-reduce of `range`, the minimum of several runs.
Result<double> exchange(Communicator &communicator, const CollectiveRange &range, int runs) {
  const Collective collective{MeetingKind::kAllReduce, kAllAxes, std::span(&range, 1)};
  double minimum = 1e9;
  for (int run = 0; run < runs; ++run) {
    TRAINC_RETURN_IF_ERROR(communicator.barrier());
    const double start = steadySeconds();
    TRAINC_RETURN_IF_ERROR(communicator.wait(communicator.start(collective)));
    minimum = std::min(minimum, steadySeconds() - start);
  }
  return minimum;
}

Result<LinkRates> exchangeAsRank(const LocalGroup &group, uint32_t rank) {
  TRAINC_ASSIGN_OR_RETURN(const std::unique_ptr<Communicator> communicator, group.communicator(rank));
  const uint64_t bytes = kExchangedElements * sizeof(float);
  TRAINC_ASSIGN_OR_RETURN(const DeviceAddress source, communicator->allocate("exchanged", bytes));
  TRAINC_ASSIGN_OR_RETURN(const DeviceAddress sum, communicator->allocate("sums", bytes));
  TRAINC_ASSIGN_OR_RETURN(const double brief,
                          exchange(*communicator, {source, sum, kShortElements}, kShortRuns));
  TRAINC_ASSIGN_OR_RETURN(const double whole,
                          exchange(*communicator, {source, sum, kExchangedElements}, kLongRuns));
  TRAINC_RETURN_IF_ERROR(communicator->barrier());
  const auto sent = double(bytes); // an all-reduce of two ranks sends half of the bytes twice
  return LinkRates{.bytes = sent / std::max(whole - brief, 1e-9), .meetSeconds = brief};
}

} // namespace

Status runEntriesOfStep(Executor &executor) {
  for (const fb::Entry *entry : *executor.plan().entries())
    for (uint64_t run = 0; run < runsPerStep(executor.plan(), *entry); ++run)
      TRAINC_RETURN_IF_ERROR(executor.run(entry->name()->string_view()));
  return {};
}

Result<KernelTimes> measureKernels(const fb::Plan &plan, uint32_t steps) {
  CpuDevice device;
  ExecutorOptions options;
  options.measure.profile = true;
  TRAINC_ASSIGN_OR_RETURN(const std::unique_ptr<Executor> executor, Executor::create(plan, device, options));
  TRAINC_RETURN_IF_ERROR(executor->run(kInitEntry));
  TRAINC_RETURN_IF_ERROR(runEntriesOfStep(*executor));
  MeasuredRows rows;
  add(*executor->profile(), -1, rows);
  for (uint32_t step = 0; step < steps; ++step)
    TRAINC_RETURN_IF_ERROR(runEntriesOfStep(*executor));
  add(*executor->profile(), 1, rows);
  return timesOf(rows, workByKernel(plan));
}

KernelRates ratesOf(const KernelTimes &full, const KernelTimes &half) {
  // Rate after subtracting the time of `others`; noise must not make the difference vanish.
  const auto perSecond = [](double amount, double seconds, double others) {
    constexpr double kMinShare = 0.1;
    return amount / std::max(seconds - others, kMinShare * seconds);
  };
  KernelRates rates;
  rates.bytes = perSecond(full.memory.bytes, full.memory.seconds, 0);
  rates.arithmetic = perSecond(full.arithmetic.arithmetic + half.arithmetic.arithmetic,
                               full.arithmetic.seconds + half.arithmetic.seconds, 0);
  const auto ofProducts = [&](const KernelTotals &products) {
    return perSecond(products.flops, products.seconds, products.bytes / rates.bytes);
  };
  const auto ofAttention = [&](const KernelTotals &attention) {
    return perSecond(attention.flops, attention.seconds, attention.arithmetic / rates.arithmetic);
  };
  rates.fullProducts = ofProducts(full.products);
  rates.halfProducts = ofProducts(half.products);
  rates.fullAttention = ofAttention(full.attention);
  rates.halfAttention = ofAttention(half.attention);
  rates.launchSeconds = full.launchSeconds;
  return rates;
}

Result<LinkRates> measureLink() {
  TRAINC_ASSIGN_OR_RETURN(const LocalGroup group, LocalGroup::create(Mesh({{"shard", kRanks}}),
                                                                     2 * kExchangedElements * sizeof(float),
                                                                     {.timeoutSeconds = 60, .inFlight = 4}));
  std::optional<Result<LinkRates>> other;
  std::thread peer([&] { other = exchangeAsRank(group, 1); });
  Result<LinkRates> rates = exchangeAsRank(group, 0);
  peer.join();
  if (!other->ok())
    return other->status();
  return rates;
}

std::string describeThisCpu() {
  std::ifstream info("/proc/cpuinfo");
  std::string model = "a CPU";
  for (std::string line; std::getline(info, line);)
    if (const size_t colon = line.find(": "); line.starts_with("model name") && colon != std::string::npos) {
      model = line.substr(colon + 2);
      break;
    }
  return fmt::format("{}, {} threads", model, availableCpus());
}

} // namespace trainc
