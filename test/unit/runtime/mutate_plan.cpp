// Seeds faults into a compiled plan, one at a time, and counts those that the verifier refuses.
//
//   mutate_plan PLAN COUNT     tries that many of each kind that plan_mutants.h knows, drawn at random.
//   Prints
//                              what was accepted, and exits 1 if anything was.
#include "test/unit/runtime/plan_builder.h"
#include "test/unit/runtime/plan_mutants.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>

using namespace trainc;

namespace {

struct Tally {
  uint64_t known = 0, tried = 0, refused = 0;
};

bool isRefused(const fb::PlanT &plan, const test::Mutant &mutant) {
  test::PlanBuilder builder;
  builder.plan = plan;
  mutant.apply(builder.plan);
  return !test::PlanBytes(builder.payload()).read().ok();
}

int mutate(const fb::Plan &plan, uint64_t count) {
  fb::PlanT tables;
  plan.UnPackTo(&tables);
  std::vector<test::Mutant> all = test::mutants(tables);
  std::ranges::shuffle(all, std::mt19937_64(1));
  std::map<std::string, Tally> tallies;
  bool accepted = false;
  for (const test::Mutant &mutant : all) {
    Tally &tally = tallies[mutant.kind];
    if (++tally.known > count)
      continue;
    ++tally.tried;
    if (isRefused(tables, mutant))
      ++tally.refused;
    else
      fmt::print("accepted: {}\n", mutant.what);
    accepted |= tally.refused < tally.tried;
  }
  for (const auto &[kind, tally] : tallies)
    fmt::print("{}: {} of {} refused, of {} that there are\n", kind, tally.refused, tally.tried, tally.known);
  return accepted ? 1 : 0;
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
