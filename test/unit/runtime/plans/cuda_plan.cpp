#include "test/unit/runtime/plans/cuda_plan.h"

#include "runtime/base/mapped_file.h"
#include "test/unit/runtime/plans/test_file.h"

#include <cstdlib>

namespace trainc::test {

PlanBuilder forCuda(PlanBuilder builder) { return forCuda(std::move(builder), TRAINC_TEST_PTX, 256); }

PlanBuilder forCuda(PlanBuilder builder, const char *ptx, uint32_t threads) {
  const auto text = MappedFile::open(testFile(ptx));
  if (!text.ok())
    std::abort();
  builder.plan.target = "cuda";
  builder.plan.objects.resize(1);
  fb::ObjectT &object = *builder.plan.objects[0];
  object.level = "compute_80";
  object.features.clear();
  object.image.clear();
  for (const std::byte each : text->bytes())
    object.image.push_back(static_cast<uint8_t>(each));
  object.image.push_back(0);
  for (const auto &kernel : builder.plan.kernels)
    kernel->threads = threads;
  return builder;
}

} // namespace trainc::test
