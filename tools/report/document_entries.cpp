#include "tools/report/document_entries.h"

#include "plan/facts/view.h"
#include "plan/facts/work.h"
#include "plan/schema/enum_words.h"

#include <cmath>
#include <map>

namespace trainc::report {

namespace {

using nlohmann::json;

/// A table of distinct texts, referred to by index.
class Texts {
public:
  size_t operator()(const std::string &text) {
    const auto [found, isNew] = numbers_.emplace(text, numbers_.size());
    if (isNew)
      list_.push_back(text);
    return found->second;
  }
  json list() && { return std::move(list_); }

private:
  std::map<std::string, size_t> numbers_;
  json list_ = json::array();
};

class EntriesWriter {
public:
  explicit EntriesWriter(const Analysis &analysis) : analysis_(analysis), plan_(analysis.plan) {}

  void write(json &document) {
    document["step"] = json::array();
    for (const ScheduledRuns &each : analysis_.step)
      document["step"].push_back({{"entry", view(each.entry->name())},
                                  {"runs", each.runs},
                                  {"seconds", roundSeconds(each.schedule.seconds)},
                                  {"streams", streams(each.schedule)}});
    document["entries"] = json::array();
    for (const EntryAnalysis &each : analysis_.entries)
      document["entries"].push_back(entry(each));
    document["sources"] = sources();
    document["files"] = std::move(files_).list();
    document["instructions"] = {{"text", std::move(instructions_).list()}, {"class", std::move(classes_)}};
  }

private:
  json entry(const EntryAnalysis &each) {
    return {{"name", view(each.entry->name())},  {"runs_per_step", each.runs},
            {"flops", each.entry->flops()},      {"seconds", roundSeconds(each.schedule.seconds)},
            {"streams", streams(each.schedule)}, {"peaks", peaks(each.occupancy)},
            {"moments", moments(each)},          {"values", values(each.occupancy)},
            {"waits", waits(each.schedule)}};
  }

  static json streams(const Schedule &schedule) {
    json streams = json::array();
    for (size_t i = 0; i < schedule.streams.size(); ++i)
      streams.push_back({{"name", wordOf(static_cast<fb::Stream>(i))},
                         {"busy_seconds", roundSeconds(schedule.streams[i].busy)},
                         {"exposed_seconds", roundSeconds(schedule.streams[i].exposed)}});
    return streams;
  }

  static json peaks(const Occupancy &occupancy) {
    json peaks = json::array();
    for (const ArenaPeak &peak : occupancy.peaks)
      peaks.push_back({{"arena", peak.arena},
                       {"moment", peak.moment},
                       {"held_bytes", peak.held},
                       {"reach_bytes", peak.reach}});
    return peaks;
  }

  json moments(const EntryAnalysis &each) {
    json index = json::array(), what = json::array(), source = json::array(), stream = json::array(),
         begin = json::array(), seconds = json::array(), iterations = json::array();
    for (const Moment &moment : each.moments) {
      index.push_back(moment.index);
      what.push_back(instruction(*moment.instruction));
      source.push_back(moment.instruction->source());
      stream.push_back(static_cast<int>(moment.instruction->stream()));
      begin.push_back(roundSeconds(moment.begin));
      seconds.push_back(roundSeconds(moment.seconds()));
      iterations.push_back(moment.inLoop ? moment.iterations : 0);
    }
    return {{"index", index}, {"instruction", what}, {"source", source},        {"stream", stream},
            {"begin", begin}, {"seconds", seconds},  {"iterations", iterations}};
  }

  size_t instruction(const fb::Instruction &instruction) {
    const size_t number = instructions_(describeInstruction(plan_, instruction));
    if (number == classes_.size())
      classes_.push_back(classOf(plan_, instruction));
    return number;
  }

  static json values(const Occupancy &occupancy) {
    json buffer = json::array(), offset = json::array(), bytes = json::array(), begin = json::array(),
         end = json::array(), last = json::array();
    for (const Held &each : occupancy.values) {
      buffer.push_back(each.buffer);
      offset.push_back(each.offset);
      bytes.push_back(each.bytes);
      begin.push_back(each.begin);
      end.push_back(each.end);
      last.push_back(each.last);
    }
    return {{"buffer", buffer}, {"offset", offset}, {"bytes", bytes},
            {"begin", begin},   {"end", end},       {"last", last}};
  }

  static json waits(const Schedule &schedule) {
    json begin = json::array(), seconds = json::array();
    for (const ComputeWait &wait : schedule.waits) {
      begin.push_back(roundSeconds(wait.span.begin));
      seconds.push_back(roundSeconds(wait.span.seconds()));
    }
    return {{"begin", begin}, {"seconds", seconds}};
  }

  json sources() {
    json op = json::array(), file = json::array(), line = json::array();
    for (const fb::Source *source : *plan_.sources()) {
      op.push_back(view(source->op()));
      file.push_back(files_(std::string(view(source->file()))));
      line.push_back(source->line());
    }
    return {{"op", op}, {"file", file}, {"line", line}};
  }

  const Analysis &analysis_;
  const fb::Plan &plan_;
  Texts files_, instructions_;
  json classes_ = json::array(); ///< by index in instructions_
};

} // namespace

void addEntries(const Analysis &analysis, json &document) { EntriesWriter(analysis).write(document); }

double roundSeconds(double seconds) { return std::round(seconds * 1e9) / 1e9; }

} // namespace trainc::report
