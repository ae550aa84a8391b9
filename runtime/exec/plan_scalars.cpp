#include "runtime/exec/plan_scalars.h"

#include "plan/facts/dtype.h"
#include "plan/facts/view.h"

#include <algorithm>
#include <cassert>

namespace trainc {

void PlanScalars::bind(const fb::Plan &plan, std::span<const DeviceAddress> buffers) {
  for (const fb::Scalar *scalar : *plan.scalars())
    scalars_.push_back(
        {view(scalar->name()), buffers[scalar->buffer()], scalar->count() * elementBytes(scalar->dtype())});
}

std::optional<DeviceAddress> PlanScalars::addressOf(std::string_view name, size_t bytes) const {
  const auto found = std::ranges::find(scalars_, name, &Scalar::name);
  if (found == scalars_.end())
    return std::nullopt;
  assert(found->bytes == bytes && "the C++ type is not that of the scalar, or their number differs");
  return found->bytes == bytes ? std::optional(found->address) : std::nullopt;
}

} // namespace trainc
