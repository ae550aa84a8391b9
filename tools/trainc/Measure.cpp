#include "tools/trainc/Measure.h"

#include "runtime/base/clock.h"
#include "runtime/comm/local/local_group.h"
#include "runtime/device/cpu/cpu_device.h"
#include "runtime/device/cpu/cpu_share.h"
#include "runtime/device/disk_arena.h"
#include "runtime/exec/executor.h"
#include "runtime/schema/limits.h"
#include "runtime/simulate/plan_schedule.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <thread>

namespace trainc {

namespace {

// --- Kernels ---

constexpr double kLargeBytes = 1 << 20, kSmallBytes = 1 << 14;

/// What a row has more than it had before.
struct Measured {
  ProfileKind kind;
  double calls = 0, seconds = 0, flops = 0, bytes = 0;
};
using MeasuredRows = std::map<std::pair<std::string, std::string>, Measured>;

void add(const Profile &profile, double sign, MeasuredRows &rows) {
  for (const ProfileRow &row : profile.rows) {
    Measured &sum = rows[{std::string(row.entry), row.what}];
    sum.kind = row.kind;
    sum.calls += sign * double(row.calls);
    sum.seconds += sign * row.seconds;
    sum.flops += sign * row.flops;
    sum.bytes += sign * row.bytes;
  }
}

KernelRates ratesOf(const MeasuredRows &rows) {
  KernelRates rates;
  Measured products{}, attention{}, large{};
  std::vector<double> small;
  const auto addTo = [](Measured &sum, const Measured &row, double flops) {
    sum.seconds += row.seconds;
    sum.flops += flops;
    sum.bytes += row.bytes;
  };
  for (const auto &[name, row] : rows) {
    if (row.calls <= 0)
      continue;
    rates.seconds += row.seconds;
    if (row.kind == ProfileKind::Gemm)
      addTo(products, row, row.flops);
    else if (row.kind == ProfileKind::Attention)
      addTo(attention, row, row.flops);
    else if (row.bytes >= kLargeBytes * row.calls)
      addTo(large, row, 0);
    else if (row.bytes < kSmallBytes * row.calls)
      small.push_back(row.seconds / row.calls);
  }
  const auto perSecond = [](double amount, double seconds) { return seconds > 0 ? amount / seconds : 0; };
  rates.productFlops = perSecond(products.flops, products.seconds);
  rates.attentionFlops = perSecond(attention.flops, attention.seconds);
  rates.bytes = perSecond(large.bytes, large.seconds);
  if (!small.empty()) {
    std::ranges::nth_element(small, small.begin() + std::ssize(small) / 2);
    rates.launchSeconds = small[small.size() / 2];
  }
  return rates;
}

Status runStep(Executor &executor) {
  for (const fb::Entry *entry : *executor.plan().entries())
    for (uint64_t run = 0; run < runsPerStep(executor.plan(), *entry); ++run)
      TRAINC_RETURN_IF_ERROR(executor.run(entry->name()->string_view()));
  return {};
}

// --- The exchange between ranks ---

constexpr uint32_t kRanks = 2;
constexpr uint64_t kExchangedElements = 8 << 20, kShortElements = 64;
constexpr int kLongRuns = 4, kShortRuns = 200;

/// Seconds of one all-reduce of so many elements, the least of some.
Result<double> exchange(Communicator &communicator, const CollectiveRange &range, int runs) {
  const Collective collective{MeetingKind::kAllReduce, fb::Group::All, std::span(&range, 1)};
  double least = 1e9;
  for (int run = 0; run < runs; ++run) {
    TRAINC_RETURN_IF_ERROR(communicator.barrier());
    const double start = steadySeconds();
    TRAINC_RETURN_IF_ERROR(communicator.wait(communicator.start(collective)));
    least = std::min(least, steadySeconds() - start);
  }
  return least;
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
  const auto sent = double(bytes); // of an all-reduce of two ranks: half of it twice
  return LinkRates{.bytes = sent / std::max(whole - brief, 1e-9), .meetSeconds = brief};
}

// --- The disk ---

constexpr uint64_t kDiskBytes = 256 << 20, kDiskPiece = 8 << 20;

/// Bytes a second of so many pieces, each moved by `move(offset)`.
template <typename Move> Result<double> perSecond(Move move) {
  const double start = steadySeconds();
  for (uint64_t offset = 0; offset < kDiskBytes; offset += kDiskPiece)
    TRAINC_RETURN_IF_ERROR(move(offset));
  return double(kDiskBytes) / (steadySeconds() - start);
}

} // namespace

Result<KernelRates> measureKernels(const fb::Plan &plan, uint32_t steps) {
  CpuDevice device;
  ExecutorOptions options;
  options.measure.profile = true;
  TRAINC_ASSIGN_OR_RETURN(const std::unique_ptr<Executor> executor, Executor::create(plan, device, options));
  TRAINC_RETURN_IF_ERROR(executor->run("init"));
  TRAINC_RETURN_IF_ERROR(runStep(*executor));
  MeasuredRows rows;
  add(*executor->profile(), -1, rows);
  for (uint32_t step = 0; step < steps; ++step)
    TRAINC_RETURN_IF_ERROR(runStep(*executor));
  add(*executor->profile(), 1, rows);
  return ratesOf(rows);
}

Result<LinkRates> measureLink() {
  TRAINC_ASSIGN_OR_RETURN(const LocalGroup group,
                          LocalGroup::create(kRanks, 2 * kExchangedElements * sizeof(float),
                                             {.timeoutSeconds = 60, .inFlight = 4, .shardRanks = 1}));
  std::optional<Result<LinkRates>> other;
  std::thread peer([&] { other = exchangeAsRank(group, 1); });
  Result<LinkRates> rates = exchangeAsRank(group, 0);
  peer.join();
  if (!other->ok())
    return other->status();
  return rates;
}

Result<DiskRates> measureDisk() {
  TRAINC_ASSIGN_OR_RETURN(DiskArena arena, DiskArena::create("calibration", kDiskBytes));
  std::vector<std::byte> storage(kDiskPiece + kDiskAlignment);
  void *aligned = storage.data();
  size_t space = storage.size();
  const std::span piece(static_cast<std::byte *>(std::align(kDiskAlignment, kDiskPiece, aligned, space)),
                        kDiskPiece);
  DiskRates rates;
  TRAINC_ASSIGN_OR_RETURN(rates.writeBytes, perSecond([&](uint64_t offset) {
                            return arena.write(arena.address() + offset, piece);
                          }));
  TRAINC_ASSIGN_OR_RETURN(rates.readBytes, perSecond([&](uint64_t offset) {
                            return arena.read(piece, arena.address() + offset);
                          }));
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
