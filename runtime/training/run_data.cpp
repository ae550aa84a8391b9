#include "runtime/training/run_data.h"

#include "runtime/data/token_file.h"
#include "runtime/training/step_runner.h"

namespace trainc {

Result<Dataset> openData(const Executor &executor, const RunOptions &options, DataUse use) {
  std::optional<SafetensorsDType> dtype;
  if (!options.dataDType.empty()) {
    TRAINC_ASSIGN_OR_RETURN(dtype, parseTokenDType(options.dataDType));
  }
  if (use == DataUse::kTraining)
    return Dataset::open(options.data, entryColumns(executor, kStepEntries), dtype);
  return Dataset::open(options.evalData, entryColumns(executor, {"eval"}), dtype);
}

Result<NamedValue> identityOf(const char *option, const Dataset &data) {
  TRAINC_ASSIGN_OR_RETURN(const uint64_t fingerprint, data.fingerprint());
  return NamedValue{option, fmt::format("{} samples (checksum {:016x})", data.samples(), fingerprint)};
}

} // namespace trainc
