#include "runtime/data/column_spec.h"

#include "runtime/plan/dtype.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace trainc {

uint64_t ColumnSpec::elements() const {
  return std::accumulate(shape.begin(), shape.end(), uint64_t{1}, std::multiplies<>());
}

uint64_t ColumnSpec::bytes() const { return elements() * elementBytes(dtype); }

ColumnSpec columnSpec(const fb::Input &input) {
  ColumnSpec spec;
  spec.name = input.column()->str();
  spec.dtype = input.dtype();
  for (flatbuffers::uoffset_t i = 1; i < input.shape()->size(); ++i)
    spec.shape.push_back(input.shape()->Get(i));
  spec.limit = input.limit();
  spec.ignore = input.ignore();
  spec.pads = input.pads();
  return spec;
}

std::vector<ColumnSpec> distinctColumns(const std::vector<const fb::Input *> &inputs) {
  std::vector<ColumnSpec> columns;
  for (const fb::Input *input : inputs)
    if (ColumnSpec spec = columnSpec(*input); std::ranges::find(columns, spec) == columns.end())
      columns.push_back(std::move(spec));
  return columns;
}

} // namespace trainc
