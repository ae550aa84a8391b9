// Writes the toy plan to a file, for tests of the trainrun program: make_toy_plan FILE [RANKS SHARD_RANKS
// [linger]], or for a GPU: make_toy_plan FILE cuda
#include "test/unit/runtime/training/toy_plan.h"

#include <cstdlib>

int main(int argc, char **argv) {
  using namespace trainc;
  if (argc < 2 || argc > 5)
    return 2;
  const auto number = [&](int i) { return static_cast<uint32_t>(std::strtoul(argv[i], nullptr, 10)); };
  test::PlanBuilder plan = argc >= 4   ? test::toyPlan(number(2), number(3))
                           : argc == 3 ? test::toyCudaPlan()
                                       : test::toyPlan();
  if (argc == 5)
    test::linger(plan);
  const Status status = writePlanFile(argv[1], plan.payload());
  if (!status.ok())
    fmt::print(stderr, "{}\n", status.message());
  return status.exitCode();
}
