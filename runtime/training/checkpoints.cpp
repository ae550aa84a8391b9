#include "runtime/training/checkpoints.h"

#include "runtime/training/state_tensors.h"

namespace trainc {

namespace {

Result<CheckpointContents> checkpointContents(Executor &executor) {
  CheckpointContents contents;
  contents.parameters = stateTensors(executor, fb::Role::Parameter);
  contents.optimizer = stateTensors(executor, fb::Role::Optimizer);
  if (!executor.plan().exports())
    return contents;
  for (const fb::Export *file : *executor.plan().exports()) {
    const std::string name = file->file()->str();
    if (name == kModelFile || name == kOptimizerFile || name == kTrainerStateFile)
      return invalidInput("plan '{}' exports a file '{}', which checkpoints write themselves",
                          executor.plan().name()->str(), name);
    contents.exports.emplace_back(name, file->text()->str());
  }
  return contents;
}

/// Opens the folder of checkpoints; only rank 0 locks it.
Result<CheckpointFolder> openFolder(const Executor &executor, const RunOptions &options,
                                    const StartingPoint &start) {
  if (executor.rank() != 0)
    return CheckpointFolder::ofOtherRank(options.checkpointDir);
  TRAINC_ASSIGN_OR_RETURN(CheckpointFolder folder, CheckpointFolder::open(options.checkpointDir));
  TRAINC_RETURN_IF_ERROR(folder.beginRun(start.checkpoint));
  return folder;
}

CheckpointPeers checkpointPeers(Executor &executor) {
  if (executor.control().ranks() == 1)
    return {};
  const auto gather = [&executor](uint8_t own) -> Result<std::vector<uint8_t>> {
    TRAINC_ASSIGN_OR_RETURN(const std::span<const uint8_t> all, executor.control().gather(own));
    return std::vector<uint8_t>(all.begin(), all.end());
  };
  return {.gather = gather};
}

} // namespace

Result<std::unique_ptr<Checkpoints>> Checkpoints::open(Executor &executor, const RunOptions &options,
                                                       const StartingPoint &start,
                                                       const Observers &observers) {
  if (options.checkpointDir.empty())
    return std::unique_ptr<Checkpoints>();
  TRAINC_ASSIGN_OR_RETURN(CheckpointFolder folder, openFolder(executor, options, start));
  TRAINC_ASSIGN_OR_RETURN(CheckpointContents contents, checkpointContents(executor));
  const WriterRank rank{.rank = executor.rank(), .ranks = executor.plan().ranks()};
  CheckpointWriter writer(std::move(folder), std::move(contents), options.keepLast.value_or(0), rank,
                          checkpointPeers(executor));
  return std::make_unique<Checkpoints>(executor, std::move(writer), start.position.step, observers);
}

Checkpoints::Checkpoints(Executor &executor, CheckpointWriter writer, uint64_t step,
                         const Observers &observers)
    : executor_(executor), writer_(std::move(writer)), step_(step), observers_(observers) {}

Status Checkpoints::save(const TrainerState &position) {
  if (has(position.step))
    return {};
  const auto localWait = executor_.control().localWait();
  TRAINC_RETURN_IF_ERROR(finishOrWarn());
  step_ = position.step;
  writer_.start(position);
  executor_.holdStateWrites([this] { waitUntilRead(); });
  return {};
}

Status Checkpoints::advance() {
  const auto localWait = executor_.control().localWait();
  writer_.advance();
  return writer_.settled() ? finishOrWarn() : Status();
}

/// Like finish(), but with a single rank a failed checkpoint is only a warning: the user can free disk space
/// before the next checkpoint. With several ranks the run fails, because the others would learn too late that
/// one rank cannot write.
Status Checkpoints::finishOrWarn() {
  const Status status = finish();
  if (status.ok() || executor_.plan().ranks() > 1)
    return status;
  observers_.tell(&RunObserver::onWarning, status.message());
  return {};
}

Status Checkpoints::finish() {
  if (!writer_.pending())
    return {};
  const auto localWait = executor_.control().localWait();
  TRAINC_RETURN_IF_ERROR(writer_.wait());
  observers_.tell(&RunObserver::onCheckpoint, writer_.folder().pathOf(step_));
  return {};
}

std::filesystem::path Checkpoints::latest() const {
  const std::vector<uint64_t> steps = listCheckpoints(writer_.folder().path());
  return steps.empty() ? std::filesystem::path() : writer_.folder().pathOf(steps.back());
}

void Checkpoints::waitUntilRead() const {
  const auto localWait = executor_.control().localWait();
  writer_.waitUntilRead();
}

} // namespace trainc
