#include "runtime/state/checkpoint_writer.h"

#include <system_error>

namespace trainc {

namespace {

Result<FileChecksums> writeText(const std::filesystem::path &path, const std::string &text) {
  TRAINC_ASSIGN_OR_RETURN(DurableFile file, DurableFile::create(path));
  TRAINC_RETURN_IF_ERROR(file.write(std::as_bytes(std::span(text))));
  TRAINC_RETURN_IF_ERROR(file.close());
  return FileChecksums{file.size(), file.checksum(), file.checksum(), {}};
}

} // namespace

void CheckpointWriter::start(const TrainerState &state) {
  const auto prepare = [&] {
    std::promise<void> read;
    read_ = read.get_future();
    return [this, state = state, read = std::move(read)]() mutable {
      return write(std::move(state), std::move(read));
    };
  };
  try {
    result_ = std::async(std::launch::async, prepare());
  } catch (const std::system_error &) { // the system starts no more threads: the run waits
    std::promise<Status> result;
    result_ = result.get_future();
    result.set_value(prepare()());
  }
}

void CheckpointWriter::waitUntilRead() {
  if (read_.valid())
    read_.wait();
}

Status CheckpointWriter::wait() { return result_.valid() ? result_.get() : Status(); }

/// `read` is fulfilled, or broken when the write fails before: either ends waitUntilRead().
Status CheckpointWriter::write(TrainerState state, std::promise<void> read) const {
  const uint64_t step = state.step;
  const Result<std::filesystem::path> aside = folder_.begin(step);
  Status status = aside.ok() ? writeFiles(*aside, std::move(state), read) : aside.status();
  if (status.ok())
    status = folder_.commit(step);
  if (!status.ok()) {
    folder_.abandon(step);
    return failed("the checkpoint of step {} was not written (earlier ones are intact): {}", step,
                  status.message());
  }
  if (keepLast_ > 0)
    folder_.keepLast(step, keepLast_);
  return {};
}

Status CheckpointWriter::writeFiles(const std::filesystem::path &folder, TrainerState state,
                                    std::promise<void> &read) const {
  TRAINC_ASSIGN_OR_RETURN(DurableFile model, DurableFile::create(folder / kModelFile));
  TRAINC_ASSIGN_OR_RETURN(DurableFile optimizer, DurableFile::create(folder / kOptimizerFile));
  TRAINC_ASSIGN_OR_RETURN(state.files[kModelFile], writeSafetensors(model, contents_.parameters));
  TRAINC_ASSIGN_OR_RETURN(state.files[kOptimizerFile], writeSafetensors(optimizer, contents_.optimizer));
  read.set_value();
  TRAINC_RETURN_IF_ERROR(model.close());
  TRAINC_RETURN_IF_ERROR(optimizer.close());
  for (const auto &[name, text] : contents_.exports) {
    TRAINC_ASSIGN_OR_RETURN(state.files[name], writeText(folder / name, text));
  }
  return writeText(folder / kTrainerStateFile, state.toJson()).status();
}

} // namespace trainc
