#include "runtime/exec/trace.h"

#include "runtime/base/json_text.h"
#include "runtime/base/output_file.h"
#include "runtime/exec/step_facts.h"
#include "runtime/plan/view.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>

namespace trainc {

namespace {

using Json = nlohmann::json;

/// The first event names the rank: see addTracks().
constexpr OutputKind kTraces{"--trace", "a trace of trainrun's", R"([
{"args":{"name":"rank )"};
constexpr size_t kWrittenAtOnce = size_t{1} << 20;
/// Streams have the tracks behind that of the training's steps.
constexpr uint32_t kStepTrack = 0, kFirstStreamTrack = 1;

uint32_t trackOf(fb::Stream stream) { return kFirstStreamTrack + static_cast<uint32_t>(stream); }
uint32_t predictedTrackOf(fb::Stream stream) { return trackOf(stream) + trackOf(fb::Stream::MAX); }

const char *trackName(fb::Stream stream) {
  switch (stream) {
  case fb::Stream::Compute:
    return "compute";
  case fb::Stream::Communication:
    return "communication";
  case fb::Stream::CopyIn:
    return "copies to the device";
  case fb::Stream::CopyOut:
    return "copies to the host";
  case fb::Stream::Disk:
    break;
  }
  return "disk";
}

/// The members of a slice that do not change, without the braces around them.
std::string members(const Json &slice) {
  const std::string text = slice.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
  return text.substr(1, text.size() - 2);
}

std::string opOf(const fb::Plan &plan, const fb::Instruction &instruction) {
  return std::string(view(plan.sources()->Get(instruction.source())->op()));
}

} // namespace

std::string fileOfRank(const std::string &file, uint32_t rank) {
  if (rank == 0)
    return file;
  const std::filesystem::path path(file);
  const std::string name = fmt::format("{}.rank-{}{}", path.stem().string(), rank, path.extension().string());
  return (path.parent_path() / name).string();
}

Result<std::unique_ptr<TraceWriter>> TraceWriter::create(const fb::Plan &plan, const TraceOptions &options,
                                                         uint32_t rank, std::string_view device) {
  std::string path = fileOfRank(options.file, rank);
  TRAINC_ASSIGN_OR_RETURN(Descriptor file, openOutput(path, kTraces));
  struct stat info{};
  if (::fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode) && ::ftruncate(file.get(), 0) != 0)
    return failed("--trace={}: cannot drop the trace that it holds: {}", path, std::strerror(errno));
  std::unique_ptr<TraceWriter> writer(
      new TraceWriter(plan, std::move(file), std::move(path), options.steps, rank));
  writer->addTracks(device);
  return writer;
}

void TraceWriter::addTracks(std::string_view device) {
  const auto name = [&](const char *kind, uint32_t track, std::string_view text) {
    add(Json{{"ph", "M"}, {"pid", rank_}, {"tid", track}, {"name", kind}, {"args", {{"name", text}}}}.dump());
  };
  name("process_name", kStepTrack, fmt::format("rank {}: {} on {}", rank_, view(plan_.name()), device));
  name("thread_name", kStepTrack, "steps");
  for (const fb::Stream stream : fb::EnumValuesStream())
    name("thread_name", trackOf(stream), trackName(stream));
  for (const fb::Stream stream : fb::EnumValuesStream())
    if (predictedRuns_.uses(stream))
      name("thread_name", predictedTrackOf(stream), fmt::format("predicted: {}", trackName(stream)));
}

void TraceWriter::reserve(const Program &program) {
  predictedRuns_.reserve(program);
  for (const Step &step : program.steps) {
    const StepFacts facts = factsOf(plan_, step);
    Json args = {{"entry", program.name}, {"kernel", facts.what}, {"source", facts.source}};
    if (facts.flops > 0)
      args["flops"] = facts.flops;
    if (facts.bytes > 0)
      args["bytes"] = facts.bytes;
    if (facts.predictedSeconds > 0)
      args["predicted_us"] = facts.predictedSeconds * 1e6;
    Texts texts;
    texts.ran = members(
        {{"name", opOf(plan_, *step.instruction)}, {"cat", profileKindName(facts.kind)}, {"args", args}});
    if (facts.kind == ProfileKind::Communication || step.stream == fb::Stream::Disk)
      texts.waited = members({{"name", waitName(step)},
                              {"cat", "wait"},
                              {"args", {{"entry", program.name}, {"source", facts.source}}}});
    texts_.emplace(step.instruction, std::move(texts));
  }
}

void TraceWriter::onStep(const Step &step, TimeSpan span) {
  if (const PredictedRuns::Run *run = predictedRuns_.begins(step))
    addPredicted(*run, span.begin);
  addSlice(trackOf(step.stream), span, texts_.find(step.instruction)->second.ran);
}

/// A run that was predicted to last longer than it does pushes the next one on: slices of a track follow each
/// other.
void TraceWriter::addPredicted(const PredictedRuns::Run &run, double begin) {
  begin = std::max(begin, predictedEnd_);
  predictedEnd_ = begin + run.schedule.seconds;
  const auto &instructions = *run.entry->instructions();
  for (uint32_t index = 0; index < instructions.size(); ++index) {
    const fb::Instruction &each = *instructions.Get(index);
    const TaskSpan &span = run.schedule.tasks[index];
    if (span.seconds() > 0)
      addSlice(predictedTrackOf(each.stream()), {begin + span.begin, begin + span.end},
               members({{"name", opOf(plan_, each)},
                        {"cat", "predicted"},
                        {"args",
                         {{"entry", view(run.entry->name())},
                          {"source", sourceText(*plan_.sources()->Get(each.source()))}}}}));
  }
}

void TraceWriter::onWait(const Step &waitedFor, TimeSpan span) {
  addSlice(trackOf(fb::Stream::Compute), span, texts_.find(waitedFor.instruction)->second.waited);
}

void TraceWriter::endTrainingStep(uint64_t number, TimeSpan span) {
  if (!isListening())
    return;
  addSlice(kStepTrack, span, fmt::format(R"("name":"step {}","cat":"step")", number));
  --stepsLeft_;
  flush();
}

/// Microseconds, as the format has them.
void TraceWriter::addSlice(uint32_t track, TimeSpan span, std::string_view texts) {
  add(fmt::format(R"({{"ph":"X","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},{}}})", rank_, track,
                  span.begin * 1e6, span.seconds() * 1e6, texts));
}

void TraceWriter::add(std::string_view event) {
  waiting_ += isEmpty_ ? "[\n" : ",\n";
  isEmpty_ = false;
  waiting_ += event;
  if (waiting_.size() >= kWrittenAtOnce)
    flush();
}

void TraceWriter::flush() {
  std::string_view left = waiting_;
  while (!left.empty() && status_.ok()) {
    const ssize_t written = ::write(file_.get(), left.data(), left.size());
    if (written < 0 && errno != EINTR)
      status_ = failed("--trace={}: cannot write: {}", path_, std::strerror(errno));
    if (written > 0)
      left.remove_prefix(static_cast<size_t>(written));
  }
  waiting_.clear();
}

Status TraceWriter::finish() {
  waiting_ += "\n]\n";
  flush();
  return status_;
}

} // namespace trainc
