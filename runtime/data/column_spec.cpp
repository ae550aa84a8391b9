#include "runtime/data/column_spec.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace trainc {

uint64_t ColumnSpec::elements() const {
  return std::accumulate(shape.begin(), shape.end(), uint64_t{1}, std::multiplies<>());
}

uint64_t ColumnSpec::bytes() const { return elements() * dtypeBytes(dtype); }

size_t dtypeBytes(fb::DType dtype) {
  switch (dtype) {
  case fb::DType::F64:
  case fb::DType::I64:
  case fb::DType::U64:
    return 8;
  case fb::DType::F32:
  case fb::DType::I32:
  case fb::DType::U32:
    return 4;
  case fb::DType::BF16:
  case fb::DType::F16:
    return 2;
  case fb::DType::U8:
    return 1;
  }
  return 0;
}

ColumnSpec columnSpec(const fb::Input &input) {
  ColumnSpec spec;
  spec.name = input.column()->str();
  spec.dtype = input.dtype();
  for (flatbuffers::uoffset_t i = 1; i < input.shape()->size(); ++i)
    spec.shape.push_back(input.shape()->Get(i));
  spec.limit = input.limit();
  spec.ignore = input.ignore();
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
