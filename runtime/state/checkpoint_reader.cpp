#include "runtime/state/checkpoint_reader.h"

#include "base/hash.h"
#include "base/input_file.h"
#include "runtime/state/checkpoint_files.h"
#include "runtime/state/checkpoint_folder.h"

#include <cstring>

namespace trainc {

namespace {

constexpr const char *kAdvice = "the checkpoint is damaged; use an older one";

/// Verifies size and header.
Status verifyFrame(const std::string &path, std::span<const std::byte> bytes, const FileChecksums &recorded) {
  if (bytes.size() != recorded.bytes)
    return invalidInput("{}: expected {} bytes, found {}; {}", path, recorded.bytes, bytes.size(), kAdvice);
  // The tensors are verified one by one; all bytes before the first one are the header.
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), std::min(bytes.size(), sizeof(length)));
  const uint64_t end = length < bytes.size() ? std::min(bytes.size(), sizeof(length) + length) : bytes.size();
  if (const uint64_t found = xxh3(bytes.first(end)); found != recorded.header)
    return invalidInput("{}: header: expected checksum {:016x}, found {:016x}; {}", path, recorded.header,
                        found, kAdvice);
  return {};
}

} // namespace

Result<Checkpoint> Checkpoint::open(const std::filesystem::path &path) {
  const std::filesystem::path statePath = path / kTrainerStateFile;
  TRAINC_ASSIGN_OR_RETURN(const std::string text, readWholeFile(statePath));
  Checkpoint checkpoint;
  checkpoint.path_ = path;
  TRAINC_ASSIGN_OR_RETURN(checkpoint.state_, TrainerState::fromJson(statePath.string(), text));
  const std::filesystem::path folder = std::filesystem::weakly_canonical(path).filename();
  if (const auto step = stepOfName(folder.string()); step && *step != checkpoint.state_.step)
    return invalidInput(
        "{}: expected the state of step {}, as the folder's name says, found that of step {}; {}",
        statePath.string(), *step, checkpoint.state_.step, kAdvice);
  return checkpoint;
}

Status Checkpoint::loadParameters(std::span<const StateTensor> parameters, unsigned threads) const {
  TRAINC_ASSIGN_OR_RETURN(SafetensorsView file, openFile(kModelFile));
  return load(WeightFiles(std::move(file)), kModelFile, parameters, threads, Numbers::kFinite);
}

namespace {

/// Counter of fp16 runs of earlier versions: steps with overflow until the loss scale halves.
constexpr const char *kHysteresis = "loss_scale_hysteresis";
/// Its value in plans of today, which hold no such state: each overflow halves the scale.
constexpr float kBuiltInHysteresis = 1;

} // namespace

Status Checkpoint::loadOptimizer(std::span<const StateTensor> states, unsigned threads) const {
  if (std::error_code error; !std::filesystem::exists(path_ / kOptimizerFile, error) && !error)
    return invalidInput(
        "{}: cannot open: no such file, so no run can go on from this checkpoint; use an older one, or begin "
        "a new run with its weights alone: --init={}",
        (path_ / kOptimizerFile).string(), path_.string());
  std::vector<StateTensor> loaded(states.begin(), states.end());
  float hysteresis = kBuiltInHysteresis;
  TRAINC_ASSIGN_OR_RETURN(SafetensorsView view, openFile(kOptimizerFile));
  const WeightFiles file(std::move(view));
  if (file.find(kHysteresis))
    loaded.push_back({.name = kHysteresis,
                      .dtype = fb::DType::F32,
                      .shape = {},
                      .bytes = std::as_writable_bytes(std::span(&hysteresis, 1))});
  TRAINC_RETURN_IF_ERROR(load(file, kOptimizerFile, loaded, threads, Numbers::kAny));
  if (hysteresis == kBuiltInHysteresis)
    return {};
  return invalidInput(
      "{}: {} is {:g}: the run halved its loss scale after several steps with overflow, by a setting of "
      "earlier versions; this plan's halves after each. A new run can begin with the weights alone: "
      "--init={}",
      file.path(), kHysteresis, hysteresis, path_.string());
}

Result<SafetensorsView> Checkpoint::openParameters() const { return openFile(kModelFile); }

Result<SafetensorsView> Checkpoint::openFile(const char *name) const {
  const std::string path = (path_ / name).string();
  const auto recorded = state_.files.find(name);
  if (recorded == state_.files.end())
    return invalidInput("{}: does not record {}", (path_ / kTrainerStateFile).string(), name);
  TRAINC_ASSIGN_OR_RETURN(MappedFile mapping, MappedFile::open(path));
  const Status frame = verifyFrame(path, mapping.bytes(), recorded->second);
  if (mapping.isLost())
    return lostPages(path);
  TRAINC_RETURN_IF_ERROR(frame);
  return SafetensorsView::own(path, std::move(mapping));
}

/// Optimizer states may hold infinities, such as the square of a large gradient, with which a run goes on.
Status Checkpoint::load(const WeightFiles &file, const char *name, std::span<const StateTensor> tensors,
                        unsigned threads, Numbers numbers) const {
  const auto lookup = [&](const std::string &tensor) { return file.find(tensor); };
  const auto ignoreNone = [](const WeightTensor &, const auto &) { return false; };
  TensorMatch match = matchTensors(file.tensors(), tensors, lookup, ignoreNone);
  TRAINC_RETURN_IF_ERROR(match.status(fmt::format(
      "{}: the checkpoint (of '{}') does not fit this plan; was it made by another model, or with "
      "another optimizer, other frozen groups, or another --precision, --product-type, --loss-scale, "
      "--keep-f32, --param-type or --optimizer-states?{}",
      file.path(), state_.plan,
      name == std::string_view(kOptimizerFile)
          ? fmt::format(" A new run can begin with its weights alone: --init={}", path_.string())
          : "")));
  TRAINC_RETURN_IF_ERROR(addChecksums(state_.files.at(name), match.transfers));
  TRAINC_ASSIGN_OR_RETURN(const auto fault, transferTensors(match.transfers, threads, numbers));
  TRAINC_RETURN_IF_ERROR(file.check());
  if (!fault)
    return {};
  return invalidInput("{}: {}; {}", file.path(), fault->message(),
                      fault->element ? "the run had diverged when it wrote this; use an older checkpoint"
                                     : kAdvice);
}

} // namespace trainc
