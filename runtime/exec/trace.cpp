#include "runtime/exec/trace.h"

#include "base/json_text.h"
#include "base/output_file.h"
#include "base/plain_text.h"
#include "plan/facts/view.h"
#include "runtime/exec/step_facts.h"

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

/// A trace file and how it begins: with the event that names the rank (see addRank()).
constexpr OutputKind kTraces{"--trace=", "a trace of trainrun's", R"([
{"args":{"name":"rank )"};
constexpr size_t kWrittenAtOnce = size_t{1} << 20;
/// Track numbers: training steps first, then for each stream the measured slices, the predicted ones and the
/// threads. Viewers sort tracks by number.
constexpr uint32_t kStepTrack = 0, kFirstStreamTrack = 1, kTracksOfStream = 10000;
constexpr uint32_t kPredicted = 1, kFirstThread = 2;

uint32_t trackOf(fb::Stream stream) {
  return kFirstStreamTrack + kTracksOfStream * static_cast<uint32_t>(stream);
}

const char *streamTrackName(fb::Stream stream) {
  switch (stream) {
  case fb::Stream::Compute:
    return "compute";
  case fb::Stream::Communication:
    return "communication";
  case fb::Stream::CopyIn:
    return "copies to the device";
  case fb::Stream::CopyOut:
    return "copies to the host";
  case fb::Stream::HostCompute:
    return "kernels of the host";
  case fb::Stream::Disk:
    break;
  }
  return "disk";
}

std::string trackName(uint32_t track) {
  if (track == kStepTrack)
    return "steps";
  const char *stream =
      streamTrackName(static_cast<fb::Stream>((track - kFirstStreamTrack) / kTracksOfStream));
  const uint32_t number = (track - kFirstStreamTrack) % kTracksOfStream;
  if (number == 0)
    return stream;
  return number == kPredicted ? fmt::format("predicted: {}", stream)
                              : fmt::format("{}, thread {}", stream, number - kFirstThread);
}

/// The constant members of a slice as JSON text, without the braces.
std::string members(const Json &slice) {
  const std::string text =
      printableJson(slice.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace));
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
    return failed("--trace={}: cannot remove the trace that the file holds: {}", path, std::strerror(errno));
  std::unique_ptr<TraceWriter> writer(
      new TraceWriter(plan, std::move(file), std::move(path), options.steps, rank));
  writer->addRank(device);
  return writer;
}

void TraceWriter::addRank(std::string_view device) {
  add(Json{{"ph", "M"},
           {"pid", rank_},
           {"tid", kStepTrack},
           {"name", "process_name"},
           {"args", {{"name", fmt::format("rank {}: {} on {}", rank_, view(plan_.name()), device)}}}}
          .dump());
}

void TraceWriter::addTrack(uint32_t track) {
  const auto say = [&](const char *what, const Json &args) {
    add(Json{{"ph", "M"}, {"pid", rank_}, {"tid", track}, {"name", what}, {"args", args}}.dump());
  };
  say("thread_name", Json::object({{"name", trackName(track)}}));
  say("thread_sort_index", Json::object({{"sort_index", track}}));
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
    const std::string op = opOf(plan_, *step.instruction);
    const Json place = {{"entry", program.name}, {"source", facts.source}};
    Texts texts;
    texts.ran = members({{"name", op}, {"cat", profileKindName(facts.kind)}, {"args", args}});
    texts.waited = members({{"name", waitName(step)}, {"cat", "wait"}, {"args", place}});
    texts.onThread = members({{"name", op}, {"cat", "thread"}, {"args", place}});
    texts_.emplace(step.instruction, std::move(texts));
  }
}

void TraceWriter::onStep(const Step &step, TimeSpan span) {
  if (const PredictedRuns::Run *run = predictedRuns_.begins(step))
    addPredicted(*run, span.begin);
  addSlice(trackOf(step.stream), span, texts_.find(step.instruction)->second.ran);
}

/// A run whose prediction exceeds the actual time delays the predicted slices of the next one, because slices
/// of a track must not overlap.
void TraceWriter::addPredicted(const PredictedRuns::Run &run, double begin) {
  const auto &instructions = *run.entry->instructions();
  const auto streamOf = [&](uint32_t index) {
    return static_cast<size_t>(instructions.Get(index)->stream());
  };
  const std::vector<TaskSpan> &spans = run.schedule.tasks;
  for (uint32_t index = 0; index < spans.size(); ++index)
    if (spans[index].seconds() > 0)
      begin = std::max(begin, predictedEnds_[streamOf(index)] - spans[index].begin);
  for (uint32_t index = 0; index < spans.size(); ++index) {
    const fb::Instruction &each = *instructions.Get(index);
    const TaskSpan &span = spans[index];
    if (span.seconds() <= 0)
      continue;
    double &end = predictedEnds_[streamOf(index)];
    end = std::max(end, begin + span.end);
    addSlice(trackOf(each.stream()) + kPredicted, {begin + span.begin, begin + span.end},
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

void TraceWriter::onThread(const Step &step, unsigned thread, TimeSpan span) {
  addSlice(trackOf(step.stream) + kFirstThread + thread, span,
           texts_.find(step.instruction)->second.onThread);
}

void TraceWriter::endTrainingStep(uint64_t number, TimeSpan span) {
  if (!isListening())
    return;
  addSlice(kStepTrack, span, fmt::format(R"("name":"step {}","cat":"step")", number));
  --stepsLeft_;
  flush();
}

/// Times are in microseconds, as the format requires.
void TraceWriter::addSlice(uint32_t track, TimeSpan span, std::string_view texts) {
  if (tracks_.insert(track).second)
    addTrack(track);
  const std::string worked =
      span.threadSeconds > 0 ? fmt::format(R"("tdur":{:.3f},)", span.threadSeconds * 1e6) : "";
  add(fmt::format(R"({{"ph":"X","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},{}{}}})", rank_, track,
                  span.begin * 1e6, span.seconds() * 1e6, worked, texts));
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
    if (written < 0 && errno == EPIPE)
      break; // the reader has closed the pipe
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
