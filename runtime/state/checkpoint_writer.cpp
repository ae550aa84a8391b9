#include "runtime/state/checkpoint_writer.h"

#include "runtime/state/durable_file.h"

namespace trainc {

namespace {

Result<FileChecksums> writeText(const std::filesystem::path &path, const std::string &text) {
  TRAINC_ASSIGN_OR_RETURN(DurableFile file, DurableFile::create(path));
  TRAINC_RETURN_IF_ERROR(file.write(std::as_bytes(std::span(text))));
  TRAINC_RETURN_IF_ERROR(file.close());
  return FileChecksums{file.size(), file.checksum(), 0, {}};
}

Status writeFiles(const std::filesystem::path &folder, const CheckpointContents &contents,
                  TrainerState state) {
  TRAINC_ASSIGN_OR_RETURN(state.files[kModelFile],
                          writeSafetensors(folder / kModelFile, contents.parameters));
  TRAINC_ASSIGN_OR_RETURN(state.files[kOptimizerFile],
                          writeSafetensors(folder / kOptimizerFile, contents.optimizer));
  for (const auto &[name, text] : contents.exports) {
    TRAINC_ASSIGN_OR_RETURN(state.files[name], writeText(folder / name, text));
  }
  return writeText(folder / kTrainerStateFile, state.toJson()).status();
}

} // namespace

Status writeCheckpoint(const CheckpointFolder &folder, const CheckpointContents &contents,
                       TrainerState state) {
  const uint64_t step = state.step;
  const Result<std::filesystem::path> aside = folder.begin(step);
  Status status = aside.status();
  if (status.ok())
    status = writeFiles(*aside, contents, std::move(state));
  if (status.ok())
    status = folder.commit(step);
  if (status.ok())
    return {};
  folder.abandon(step);
  return failed("checkpoint of step {} was not written (earlier ones are intact): {}", step,
                status.message());
}

void CheckpointWriter::start(TrainerState state) {
  result_ = std::async(std::launch::async, [this, state = std::move(state)]() mutable {
    const uint64_t step = state.step;
    Status status = writeCheckpoint(folder_, contents_, std::move(state));
    if (status.ok() && keepLast_ > 0)
      folder_.keepLast(step, keepLast_);
    return status;
  });
}

Status CheckpointWriter::wait() { return result_.valid() ? result_.get() : Status(); }

} // namespace trainc
