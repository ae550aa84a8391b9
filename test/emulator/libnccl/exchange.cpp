#include "test/emulator/libnccl/exchange.h"

#include "test/emulator/libcuda/extension.h"
#include "test/emulator/libnccl/ring_sum.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <string_view>

namespace trainc::emulator {

namespace {

/// Elements of a sum whose ring order begins at the same rank.
constexpr uint64_t kChunk = 1024;
/// Maximum number of failed polls until a rank is there.
constexpr uint64_t kMaxPauses = 4;

uint64_t numberAfter(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  return at == std::string_view::npos ? 0 : std::strtoull(text.data() + at + key.size(), nullptr, 10);
}

} // namespace

RankFault RankFault::fromEnvironment() {
  const char *variable = std::getenv("TRAINC_EMULATOR_NCCL");
  const std::string_view text = variable ? variable : "";
  RankFault fault{.rank = static_cast<uint32_t>(numberAfter(text, "rank=")),
                  .collective = numberAfter(text, "collective=")};
  if (text.starts_with("hang:"))
    fault.kind = Kind::kHang;
  if (text.starts_with("die:"))
    fault.kind = Kind::kDie;
  return fault;
}

std::optional<std::string> memoryFault(const Operation &operation, uint32_t ranks) {
  const uint64_t source = sourceElements(operation, ranks) * bytesOf(operation.type);
  const uint64_t destination = destinationElements(operation, ranks) * bytesOf(operation.type);
  if (operation.kind != OperationKind::kReceive && source > 0) {
    if (emulatorBytes(operation.source, source) == nullptr)
      return fmt::format("{} reads {} bytes at 0x{:x}, which are not all of one live allocation",
                         describe(operation), source, operation.source);
    if (!emulatorIsWritten(operation.source, source))
      return fmt::format("{} reads {} bytes at 0x{:x}, of which some were never written", describe(operation),
                         source, operation.source);
  }
  if (operation.kind != OperationKind::kSend && destination > 0 &&
      emulatorBytes(operation.destination, destination) == nullptr)
    return fmt::format("{} writes {} bytes at 0x{:x}, which are not all of one live allocation",
                       describe(operation), destination, operation.destination);
  return std::nullopt;
}

Progress RankExchange::run(std::vector<Operation> operations) {
  const bool isHit = ++begun_ == fault_.collective && meeting_->rank() == fault_.rank;
  if (isHit && fault_.kind == RankFault::Kind::kDie)
    (void)std::raise(SIGKILL);
  while (isHit && fault_.kind == RankFault::Kind::kHang)
    co_await kPause;
  for (uint64_t pauses = random_() % kMaxPauses; pauses > 0; --pauses)
    co_await kPause;
  for (const Operation &operation : operations)
    if (auto fault = memoryFault(operation, meeting_->ranks()))
      co_return fault;
  for (const Operation &operation : operations) {
    if (isPairwise(operation.kind))
      continue;
    Progress part = collective(operation);
    while (!part.advance())
      co_await kPause;
    if (part.failure())
      co_return part.failure();
  }
  std::erase_if(operations, [](const Operation &each) { return !isPairwise(each.kind); });
  Progress part = pairwise(std::move(operations));
  while (!part.advance())
    co_await kPause;
  co_return part.failure();
}

Progress RankExchange::collective(Operation operation) {
  meeting_->own().posting = {operation.kind, operation.type, operation.count};
  for (uint32_t barrier = meeting_->arrive(); !meeting_->isOpen(barrier);)
    co_await kPause;
  if (auto text = mismatch(operation))
    co_return text;
  const size_t bytes = bytesOf(operation.type);
  const uint64_t elements = sourceElements(operation, meeting_->ranks());
  const uint64_t stripe = kPieceBytes / bytes;
  for (uint64_t begin = 0; begin < elements; begin += stripe) {
    const uint64_t count = std::min(stripe, elements - begin);
    giveStripe(operation, begin, count);
    for (uint32_t barrier = meeting_->arrive(); !meeting_->isOpen(barrier);)
      co_await kPause;
    if (auto text = takeStripe(operation, begin, count))
      co_return text;
    for (uint32_t barrier = meeting_->arrive(); !meeting_->isOpen(barrier);)
      co_await kPause;
  }
  emulatorNoteWritten(operation.destination, destinationElements(operation, meeting_->ranks()) * bytes);
  // All ranks must compare before any of them posts again.
  for (uint32_t barrier = meeting_->arrive(); !meeting_->isOpen(barrier);)
    co_await kPause;
  co_return std::nullopt;
}

std::optional<std::string> RankExchange::mismatch(const Operation &operation) const {
  for (uint32_t rank = 0; rank < meeting_->ranks(); ++rank) {
    const Posting &other = meeting_->box(rank).posting;
    if (other == meeting_->own().posting)
      continue;
    const Operation theirs{.kind = other.kind, .type = other.type, .count = other.count};
    return fmt::format("rank {} is at {} where rank {} is at {}", meeting_->rank(), describe(operation), rank,
                       describe(theirs));
  }
  return std::nullopt;
}

/// Publishes this rank's part of the stripe.
void RankExchange::giveStripe(const Operation &operation, uint64_t begin, uint64_t elements) const {
  const size_t bytes = bytesOf(operation.type);
  std::memcpy(meeting_->own().piece.data(), emulatorBytes(operation.source + begin * bytes, elements * bytes),
              elements * bytes);
}

std::optional<std::string> RankExchange::takeStripe(const Operation &operation, uint64_t begin,
                                                    uint64_t elements) const {
  const size_t bytes = bytesOf(operation.type);
  const auto to = [&](uint64_t element, uint64_t count) {
    return emulatorBytes(operation.destination + element * bytes, count * bytes);
  };
  std::vector<const std::byte *> sources;
  for (uint32_t rank = 0; rank < meeting_->ranks(); ++rank)
    sources.push_back(meeting_->box(rank).piece.data());
  if (operation.kind == OperationKind::kAllGather) {
    for (uint32_t rank = 0; rank < meeting_->ranks(); ++rank)
      std::memcpy(to(rank * operation.count + begin, elements), sources[rank], elements * bytes);
    return std::nullopt;
  }
  const bool scatters = operation.kind == OperationKind::kReduceScatter;
  const uint64_t part = meeting_->rank() * operation.count; // this rank's shard of a scatter
  const uint64_t from = scatters ? std::max(begin, part) : begin;
  const uint64_t end = scatters ? std::min(begin + elements, part + operation.count) : begin + elements;
  for (uint64_t at = from; at < end;) {
    const uint64_t count = std::min(end, (at / kChunk + 1) * kChunk) - at;
    std::vector<const std::byte *> chunk = sources;
    for (const std::byte *&source : chunk)
      source += (at - begin) * bytes;
    const uint64_t ring = scatters ? meeting_->rank() : at / kChunk % meeting_->ranks();
    if (!ringSum(operation.type, chunk, ring, to(scatters ? at - part : at, count), count))
      return fmt::format("{}: the emulated NCCL sums f32, bf16 and f16 alone", describe(operation));
    at += count;
  }
  return std::nullopt;
}

/// Messages between a pair of ranks are ordered; all pairs proceed concurrently.
Progress RankExchange::pairwise(std::vector<Operation> operations) {
  std::vector<Message> messages;
  for (const Operation &operation : operations)
    messages.push_back({operation});
  std::optional<std::string> failure;
  while (!messages.empty()) {
    bool moved = false;
    for (size_t i = 0; i < messages.size(); ++i) {
      bool isFirst = true; // of its pair and direction
      for (size_t before = 0; before < i; ++before)
        isFirst = isFirst && (messages[before].isDone() ||
                              messages[before].operation.kind != messages[i].operation.kind ||
                              messages[before].operation.peer != messages[i].operation.peer);
      if (isFirst && !messages[i].isDone() && movePiece(messages[i], failure))
        moved = true;
      if (failure)
        co_return failure;
    }
    std::erase_if(messages, [](const Message &each) { return each.isDone(); });
    if (!moved)
      co_await kPause;
  }
  co_return std::nullopt;
}

/// Returns whether the other side was ready.
bool RankExchange::movePiece(Message &message, std::optional<std::string> &failure) const {
  const Operation &operation = message.operation;
  const bool sends = operation.kind == OperationKind::kSend;
  const uint32_t self = meeting_->rank();
  Mailbox &mail = sends ? meeting_->mail(self, operation.peer) : meeting_->mail(operation.peer, self);
  if (mail.full.load(std::memory_order_acquire) == (sends ? 1U : 0U))
    return false;
  message.begun = true;
  if (sends) {
    mail.count = operation.count;
    mail.type = operation.type;
    mail.bytes = std::min<uint64_t>(kMailBytes, message.bytes() - message.done);
    if (mail.bytes > 0)
      std::memcpy(mail.piece.data(), emulatorBytes(operation.source + message.done, mail.bytes), mail.bytes);
  } else if (mail.count != operation.count || mail.type != operation.type) {
    failure = fmt::format("rank {} is at {} where rank {} sends {} {}", self, describe(operation),
                          operation.peer, mail.count, nameOf(mail.type));
    return false;
  } else if (mail.bytes > 0) {
    std::memcpy(emulatorBytes(operation.destination + message.done, mail.bytes), mail.piece.data(),
                mail.bytes);
  }
  message.done += mail.bytes;
  mail.full.store(sends ? 1 : 0, std::memory_order_release);
  if (!sends && message.isDone())
    emulatorNoteWritten(operation.destination, message.bytes());
  return true;
}

} // namespace trainc::emulator
