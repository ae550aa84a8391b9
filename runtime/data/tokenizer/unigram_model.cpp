#include "runtime/data/tokenizer/unigram_model.h"

#include "base/plain_text.h"
#include "runtime/data/tokenizer/fallback_byte.h"

#include <algorithm>
#include <cmath>

namespace trainc {

namespace {

/// Difference of the score of an unknown character to that of the least probable piece.
constexpr double kUnknownPenalty = 10;

} // namespace

Result<std::unique_ptr<TokenModel>> UnigramModel::create(UnigramDefinition definition) {
  auto model = std::make_unique<UnigramModel>();
  TRAINC_RETURN_IF_ERROR(model->addPieces(definition));
  if (definition.unknown >= definition.pieces.size())
    return invalidInput("{}: model.unk_id: no piece has the id {}; there are {}", definition.file,
                        definition.unknown, definition.pieces.size());
  model->unknown_ = static_cast<uint32_t>(definition.unknown);
  for (size_t byte = 0; byte < model->fallbackIds_.size(); ++byte)
    model->fallbackIds_[byte] = definition.byteFallback
                                    ? model->find(fallbackToken(static_cast<uint8_t>(byte))).value_or(kNoId)
                                    : kNoId;
  return std::unique_ptr<TokenModel>(std::move(model));
}

Status UnigramModel::addPieces(const UnigramDefinition &definition) {
  std::vector<PieceTrie::Piece> pieces;
  double lowest = INFINITY;
  for (const auto &[piece, score] : definition.pieces) {
    const auto id = static_cast<uint32_t>(scores_.size());
    if (!std::isfinite(score))
      return invalidInput("{}: model.vocab[{}]: the score of the piece '{}' is {}; expected a finite number",
                          definition.file, id, printable(piece), score);
    if (piece.size() > kMaxPieceBytes)
      return invalidInput("{}: model.vocab[{}]: the piece has {} bytes; expected at most {}", definition.file,
                          id, piece.size(), kMaxPieceBytes);
    if (const auto [other, isNew] = vocabulary_.emplace(piece, id); !isNew)
      return invalidInput("{}: model.vocab[{}]: the piece '{}' is model.vocab[{}], too; each may occur once",
                          definition.file, id, printable(piece), other->second);
    pieces.emplace_back(piece, id);
    scores_.push_back(score);
    lowest = std::min(lowest, score);
  }
  unknownScore_ = lowest - kUnknownPenalty;
  trie_ = PieceTrie(std::move(pieces));
  return {};
}

bool UnigramModel::encode(std::string_view word, std::vector<uint32_t> &ids) {
  if (const std::span<const uint32_t> known = cache_.find(word); !known.empty()) {
    ids.insert(ids.end(), known.begin(), known.end());
    return true;
  }
  const size_t first = ids.size();
  findPaths(word);
  tokens_.clear();
  for (size_t end = word.size(); end > 0; end -= tokens_.back().bytes)
    tokens_.push_back(paths_[end]);
  size_t unknownBytes = 0;
  const auto flushUnknown = [&](size_t end) {
    if (unknownBytes > 0)
      addUnknown(word.substr(end - unknownBytes, unknownBytes), ids);
    unknownBytes = 0;
  };
  size_t position = 0;
  for (; !tokens_.empty(); tokens_.pop_back()) {
    const auto [score, id, bytes] = tokens_.back();
    if (id == unknown_) {
      unknownBytes += bytes;
    } else {
      flushUnknown(position);
      ids.push_back(id);
    }
    position += bytes;
  }
  flushUnknown(position);
  cache_.insert(word, std::span(ids).subspan(first));
  return true;
}

/// Fills paths_. Every character ends a path, because an unknown one is a token, too.
void UnigramModel::findPaths(std::string_view word) {
  paths_.assign(word.size() + 1, Path());
  for (size_t begin = 0; begin < word.size();) {
    size_t next = begin;
    nextCharacter(word, next);
    const double before = paths_[begin].score;
    bool isKnown = false;
    trie_.forEachPrefix(word.substr(begin), [&](size_t bytes, uint32_t id) {
      improve(begin + bytes, {before + scores_[id], id, static_cast<uint32_t>(bytes)});
      isKnown |= begin + bytes == next;
    });
    if (!isKnown)
      improve(next, {before + unknownScore_, unknown_, static_cast<uint32_t>(next - begin)});
    begin = next;
  }
}

/// Replaces the path to `end` by `path` if `end` has no path, or a path of a smaller score. Of equal scores,
/// the path that comes first stays; paths with a longer last token come first.
void UnigramModel::improve(size_t end, const Path &path) {
  if (paths_[end].bytes == 0 || path.score > paths_[end].score)
    paths_[end] = path;
}

/// Adds the ids of consecutive unknown characters, which may be a piece together.
void UnigramModel::addUnknown(std::string_view text, std::vector<uint32_t> &ids) const {
  if (const auto whole = find(text))
    ids.push_back(*whole);
  else if (!addFallback(text, ids))
    ids.push_back(unknown_);
}

/// Adds the tokens of all bytes of `text`; false if one has none.
bool UnigramModel::addFallback(std::string_view text, std::vector<uint32_t> &ids) const {
  const auto idOf = [&](char byte) { return fallbackIds_[static_cast<uint8_t>(byte)]; };
  if (std::ranges::find(text, kNoId, idOf) != text.end())
    return false;
  std::ranges::transform(text, std::back_inserter(ids), idOf);
  return true;
}

bool UnigramModel::encodeInvalid(std::string_view bytes, std::vector<uint32_t> &ids) {
  if (!addFallback(bytes, ids))
    ids.push_back(unknown_);
  return true;
}

} // namespace trainc
