#include "runtime/device/cpu/cpu_share.h"

#include "base/cpu_quota.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <hwloc.h>
#include <sched.h>
#include <thread>

namespace trainc {

namespace {

/// Owner of an hwloc bitmap.
class Bitmap {
public:
  Bitmap() : set_(hwloc_bitmap_alloc()) {}
  explicit Bitmap(const CpuSet &cpus) : Bitmap() {
    for (const unsigned cpu : cpus)
      hwloc_bitmap_set(set_, cpu);
  }
  Bitmap(const Bitmap &) = delete;
  Bitmap &operator=(const Bitmap &) = delete;
  ~Bitmap() { hwloc_bitmap_free(set_); }

  hwloc_bitmap_t get() const { return set_; }

private:
  hwloc_bitmap_t set_;
};

CpuSet cpusIn(hwloc_const_bitmap_t set) {
  CpuSet cpus;
  for (int cpu = hwloc_bitmap_first(set); cpu >= 0; cpu = hwloc_bitmap_next(set, cpu))
    cpus.push_back(static_cast<unsigned>(cpu));
  return cpus;
}

/// Number of CPUs in the calling thread's affinity mask.
unsigned runnableCpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
    return static_cast<unsigned>(CPU_COUNT(&set));
  return std::max(1U, std::thread::hardware_concurrency());
}

/// Threads for `cpus` CPUs, limited by this rank's share of the container's quota.
unsigned threadsOn(unsigned cpus, uint32_t ranks) {
  const std::optional<double> quota = cpuQuota();
  const double maximum = quota ? std::ceil(*quota / ranks) : cpus;
  return std::max(1U, static_cast<unsigned>(std::min<double>(cpus, maximum)));
}

} // namespace

struct CpuTopology::Data {
  hwloc_topology_t topology = nullptr;
};

CpuTopology::CpuTopology() : data_(std::make_unique<Data>()) {
  if (hwloc_topology_init(&data_->topology) != 0 || hwloc_topology_load(data_->topology) != 0)
    return; // shares stay unknown
  const Bitmap mine;
  if (hwloc_get_cpubind(data_->topology, mine.get(), HWLOC_CPUBIND_PROCESS) != 0)
    return;
  narrowed_ = hwloc_bitmap_isequal(mine.get(), hwloc_topology_get_allowed_cpuset(data_->topology)) == 0;
  own_ = cpusIn(mine.get());
}

CpuTopology::CpuTopology(const std::string &description) : data_(std::make_unique<Data>()) {
  if (hwloc_topology_init(&data_->topology) != 0 ||
      hwloc_topology_set_synthetic(data_->topology, description.c_str()) != 0 ||
      hwloc_topology_load(data_->topology) != 0)
    return;
  own_ = cpusIn(hwloc_topology_get_topology_cpuset(data_->topology));
}

CpuTopology::~CpuTopology() {
  if (data_->topology != nullptr)
    hwloc_topology_destroy(data_->topology);
}

std::vector<CpuSet> CpuTopology::shares(uint32_t count) const {
  if (count == 0 || own_.size() < count)
    return {};
  hwloc_topology_t narrowed = nullptr;
  if (hwloc_topology_dup(&narrowed, data_->topology) != 0)
    return {};
  std::vector<CpuSet> shares;
  std::vector<hwloc_cpuset_t> sets(count, nullptr);
  if (hwloc_topology_restrict(narrowed, Bitmap(own_).get(), 0) == 0) {
    hwloc_obj_t root = hwloc_get_root_obj(narrowed);
    if (hwloc_distrib(narrowed, &root, 1, sets.data(), count, INT_MAX, 0) == 0)
      for (hwloc_cpuset_t set : sets)
        shares.push_back(cpusIn(set));
  }
  for (hwloc_cpuset_t set : sets)
    if (set != nullptr)
      hwloc_bitmap_free(set);
  hwloc_topology_destroy(narrowed);
  return shares;
}

void CpuTopology::bind(const CpuSet &cpus) const {
  (void)hwloc_set_cpubind(data_->topology, Bitmap(cpus).get(),
                          HWLOC_CPUBIND_PROCESS); // unchanged if the system refuses
}

unsigned availableCpus() { return threadsOn(runnableCpus(), 1); }

unsigned takeCpuShare(const LocalRank &rank) {
  if (rank.count <= 1)
    return availableCpus();
  const CpuTopology topology;
  if (topology.isNarrowed() && !rank.forked)
    return threadsOn(runnableCpus(), rank.count);
  const std::vector<CpuSet> shares = topology.shares(rank.count);
  if (rank.index >= shares.size())
    return 1; // more ranks than CPUs: leave them to the scheduler
  topology.bind(shares[rank.index]);
  return threadsOn(static_cast<unsigned>(shares[rank.index].size()), rank.count);
}

} // namespace trainc
