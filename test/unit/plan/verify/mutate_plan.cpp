// Injects faults into a compiled plan, one at a time, and counts those that the verifier rejects.
//
//   mutate_plan PLAN COUNT     tries COUNT random faults of each kind of plan_mutants.h. Prints the accepted
//                              ones, and which of them are harmless. Exits 1 if an accepted fault is harmful,
//                              and 2 if that cannot be decided.
#include "test/unit/plan/plans/plan_builder.h"
#include "test/unit/plan/verify/flow_interpreter.h"
#include "test/unit/plan/verify/plan_mutants.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>

using namespace trainc;

namespace {

enum class Verdict { Refused, Harmless, Accepted };

struct Tally {
  uint64_t known = 0, tried = 0;
  std::map<Verdict, uint64_t> verdicts;
};

/// `mayBeHarmless`: the fault may leave a sound plan.
Verdict judge(const fb::PlanT &plan, const test::Mutant &mutant, bool mayBeHarmless) {
  test::PlanBuilder builder;
  builder.plan = plan;
  mutant.apply(builder.plan);
  if (!test::PlanBytes(builder.payload()).read().ok())
    return Verdict::Refused;
  return mayBeHarmless && test::isSound(builder.plan) ? Verdict::Harmless : Verdict::Accepted;
}

/// Whether all that do harm are rejected.
bool tryAll(const fb::PlanT &plan, std::vector<test::Mutant> mutants, uint64_t count, bool mayBeHarmless) {
  std::ranges::shuffle(mutants, std::mt19937_64(1));
  std::map<std::string, Tally> tallies;
  bool allRefused = true;
  for (const test::Mutant &mutant : mutants) {
    Tally &tally = tallies[mutant.kind];
    if (++tally.known > count)
      continue;
    ++tally.tried;
    const Verdict verdict = judge(plan, mutant, mayBeHarmless);
    ++tally.verdicts[verdict];
    if (verdict != Verdict::Refused)
      fmt::print("{}: {}\n", verdict == Verdict::Harmless ? "harmless" : "accepted", mutant.what);
    allRefused &= verdict != Verdict::Accepted;
  }
  for (auto &[kind, tally] : tallies)
    fmt::print("{}: {} of {} refused, {} harmless, of {} that there are\n", kind,
               tally.verdicts[Verdict::Refused], tally.tried, tally.verdicts[Verdict::Harmless], tally.known);
  return allRefused;
}

int mutate(const fb::Plan &plan, uint64_t count) {
  fb::PlanT tables;
  plan.UnPackTo(&tables);
  if (!test::isSound(tables)) {
    fmt::print(stderr, "mutate_plan: expected a plan that is sound to whoever judges what is harmless, found "
                       "one that is not; what is accepted of it may do no harm\n");
    return 2;
  }
  const bool order = tryAll(tables, test::mutants(tables), count, false),
             addresses = tryAll(tables, test::addressMutants(tables), count, true);
  return order && addresses ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  auto file = argc == 3 ? PlanFile::open(argv[1]) : Result<PlanFile>(failed("usage: mutate_plan PLAN COUNT"));
  if (!file.ok()) {
    fmt::print(stderr, "mutate_plan: {}\n", file.status().message());
    return 2;
  }
  return mutate(file->plan(), std::strtoull(argv[2], nullptr, 10));
}
