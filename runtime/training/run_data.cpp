#include "runtime/training/run_data.h"

#include "base/hash.h"
#include "runtime/data/formats/token_file.h"
#include "runtime/training/step_runner.h"

namespace trainc {

Result<Dataset> openData(const Executor &executor, const RunOptions &options, DataUse use) {
  std::optional<SafetensorsDType> dtype;
  if (!options.dataDType.empty()) {
    TRAINC_ASSIGN_OR_RETURN(dtype, parseTokenDType(options.dataDType));
  }
  if (use == DataUse::kTraining)
    return Dataset::open(options.data, entryColumns(executor, kStepEntries), dtype);
  return Dataset::open(options.evalData, entryColumns(executor, {kEvalEntry}), dtype);
}

NamedValue identityOf(const char *option, const Dataset &data, std::span<const FileIdentity> files) {
  StreamHash hash;
  for (const FileIdentity &file : files)
    for (const uint64_t part : {file.bytes, file.blocks})
      hash.update(std::as_bytes(std::span(&part, 1)));
  return {option, fmt::format("{} samples (checksum {:016x})", data.samples(), hash.digest())};
}

Status checkDataOfCheckpoint(const Dataset &data, std::span<const FileIdentity> files,
                             const TrainerState &position) {
  const auto refuse = [](const std::string &difference) {
    return invalidInput("--data is not what the checkpoint was trained on: {}; give that data, {}",
                        difference, kHowToAllow);
  };
  if (data.samples() != position.dataSamples)
    return refuse(fmt::format("expected {} samples, found {}", position.dataSamples, data.samples()));
  if (position.data.empty())
    return {}; // written by a version that recorded no more
  if (files.size() != position.data.size())
    return refuse(fmt::format("expected {} files, found {}", position.data.size(), files.size()));
  for (size_t i = 0; i < files.size(); ++i)
    if (const FileIdentity &before = position.data[i]; !files[i].matches(before))
      return refuse(
          fmt::format("{} {}", data.files()[i].path(),
                      files[i].bytes == before.bytes
                          ? "holds something else, or the files are in another order"
                          : fmt::format("has {} bytes, expected {}", files[i].bytes, before.bytes)));
  return {};
}

} // namespace trainc
