// What a plan wants of one batch column, apart from how many samples at a time.
#pragma once

#include "runtime/base/status.h"
#include "runtime/schema/plan_generated.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trainc {

/// One row (sample) of a batch column as a plan's kernels read it: row-major elements of `dtype`.
struct ColumnSpec {
  std::string name; ///< "tokens", "labels", "segments", a feature's name
  fb::DType dtype = fb::DType::I32;
  std::vector<uint64_t> shape; ///< of one sample, without the leading dimension of the plan's input
  uint64_t limit = 0;          ///< integers must be below it; 0 when unchecked
  int64_t ignore = -1;         ///< this value is also allowed where limit > 0; never in the column "tokens"
  bool pads = false;           ///< missing samples get `ignore`

  bool operator==(const ColumnSpec &) const = default;

  uint64_t elements() const; ///< of one sample
  uint64_t bytes() const;    ///< of one sample
};

/// The column that `input` of a (verified) plan asks for.
ColumnSpec columnSpec(const fb::Input &input);

/// The columns of all `inputs`, each once.
std::vector<ColumnSpec> distinctColumns(const std::vector<const fb::Input *> &inputs);

} // namespace trainc
