#include "tools/trainrun/rank_process.h"

#include "runtime/base/hash.h"
#include "tools/trainrun/session.h"

#include <new>
#include <sys/mman.h>

namespace trainc {

namespace {

/// What no Status can say: that there is no memory for it. Nothing else throws.
Status runToTheEnd(const PlanFile &file, const Options &options, const Rank &rank, Log &log) {
  try {
    return runSession(file, options, rank, log);
  } catch (const std::bad_alloc &) {
    return {StatusCode::kFailed, "out of memory"};
  }
}

} // namespace

LogLevel logLevelOf(const Rank &rank, const Options &options) {
  const bool speaks = rank.index == 0 || (options.logOnEachNode && rank.localIndex == 0);
  const Result<LogLevel> level = parseLogLevel(speaks ? options.logLevel : options.logLevelReplica);
  return level.ok() ? *level : LogLevel::kInfo; // the command line was checked
}

FirstError::FirstError() {
  void *page = mmap(nullptr, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED)
    word_.reset(new (page) std::atomic<uint64_t>(0));
}

void FirstError::Unmap::operator()(std::atomic<uint64_t> *word) const { munmap(word, sizeof(*word)); }

bool FirstError::claim(std::string_view message) const {
  const uint64_t hash = xxh3(std::as_bytes(std::span(message)));
  uint64_t said = 0;
  return !word_ || word_->compare_exchange_strong(said, hash) || said != hash;
}

int runRankProcess(const PlanFile &file, const Options &options, const Rank &rank,
                   const FirstError &firstError) {
  Log log(stderr, logLevelOf(rank, options), rank.logPrefix());
  const Status status = runToTheEnd(file, options, rank, log);
  if (status.ok())
    return 0;
  if (rank.communicator)
    rank.communicator->fail(status.message());
  if (firstError.claim(status.message()))
    log.error("{}", status.message());
  return status.exitCode();
}

} // namespace trainc
