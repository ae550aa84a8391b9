#include "runtime/data/tokenizer/bpe_tokenizer.h"

#include "runtime/data/tokenizer/byte_alphabet.h"
#include "runtime/data/tokenizer/unicode.h"

#include <algorithm>
#include <unordered_set>

namespace trainc {

namespace {

constexpr size_t kFlushIds = 1 << 16;

std::vector<AddedToken> select(const std::vector<AddedToken> &tokens, bool normalized) {
  std::vector<AddedToken> selected;
  std::ranges::copy_if(tokens, std::back_inserter(selected),
                       [&](const AddedToken &token) { return token.normalized == normalized; });
  return selected;
}

/// Calls onText for each stretch of `text` between added tokens and onToken for each token, in order, until
/// one returns false, which is then the result. Both get where in `text` they are.
template <typename OnText, typename OnToken>
bool splitByTokens(const AddedTokens &tokens, std::string_view text, const OnText &onText,
                   const OnToken &onToken) {
  size_t from = 0;
  while (const auto match = tokens.find(text, from)) {
    if (match->begin > from && !onText(from, text.substr(from, match->begin - from)))
      return false;
    if (!onToken(match->id, match->end))
      return false;
    from = match->end;
  }
  return from == text.size() || onText(from, text.substr(from));
}

/// Whether an added token, with the spaces that it strips, may have a space after a letter.
bool hasSpaceAfterLetter(const AddedToken &token) {
  return lastSpaceAfterLetter(token.content) > 0 ||
         (token.stripRight && lastCharacter(token.content).kind == CharClass::kLetter);
}

Status verifyAdded(const BpeDefinition &definition, const BpeModel &model) {
  std::unordered_set<uint32_t> taken;
  for (const auto &[token, id] : model.vocabulary())
    taken.insert(id);
  for (const AddedToken &token : definition.added) {
    if (token.content.empty())
      return invalidInput("{}: added_tokens: the token with id {} is empty", definition.file, token.id);
    const auto known = model.find(token.content);
    if (known && *known != token.id)
      return invalidInput("{}: added_tokens: '{}' has id {}, but {} in the vocabulary", definition.file,
                          token.content, token.id, *known);
    if (!known && !taken.insert(token.id).second)
      return invalidInput("{}: added_tokens: '{}' has id {}, which another token has already",
                          definition.file, token.content, token.id);
  }
  return {};
}

} // namespace

Result<std::unique_ptr<Tokenizer>> BpeTokenizer::create(BpeDefinition definition, uint64_t fingerprint) {
  TRAINC_ASSIGN_OR_RETURN(BpeModel model, BpeModel::create(definition));
  TRAINC_RETURN_IF_ERROR(verifyAdded(definition, model));
  return std::unique_ptr<Tokenizer>(new BpeTokenizer(std::move(definition), std::move(model), fingerprint));
}

BpeTokenizer::BpeTokenizer(BpeDefinition definition, BpeModel model, uint64_t fingerprint)
    : model_(std::move(model)), first_(select(definition.added, false)),
      second_(select(definition.added, true)), split_(definition.split),
      addPrefixSpace_(definition.addPrefixSpace),
      mayCut_(split_ != SplitPattern::kWhole && !addPrefixSpace_ &&
              std::ranges::none_of(definition.added, hasSpaceAfterLetter)),
      fingerprint_(fingerprint) {
  const auto add = [&](uint32_t id, std::string bytes) {
    vocabulary_ = std::max(vocabulary_, uint64_t{id} + 1);
    bytes_.insert_or_assign(id, std::move(bytes));
  };
  for (const auto &[token, id] : model_.vocabulary())
    add(id, bytesOfToken(token).value_or(token)); // a token outside the byte alphabet stands for itself
  for (const AddedToken &token : definition.added) {
    add(token.id, token.content);
    added_.emplace(token.content, token.id);
  }
}

void BpeTokenizer::encode(std::string_view text, const Emit &emit) {
  std::vector<uint32_t> ids;
  const auto flush = [&](size_t bytesDone) {
    if (ids.size() < kFlushIds)
      return true;
    const bool goesOn = emit(ids, bytesDone);
    ids.clear();
    return goesOn;
  };
  const auto onToken = [&](uint32_t id, size_t) {
    ids.push_back(id);
    return true;
  };
  const bool complete = splitByTokens(
      first_, text,
      [&](size_t outer, std::string_view stretch) {
        return splitByTokens(
            second_, stretch,
            [&](size_t inner, std::string_view section) {
              return encodeSection(section, ids, [&](size_t done) { return flush(outer + inner + done); });
            },
            onToken);
      },
      [&](uint32_t id, size_t end) { return onToken(id, end) && flush(end); });
  if (complete)
    emit(ids, text.size());
}

bool BpeTokenizer::encodeSection(std::string_view section, std::vector<uint32_t> &ids,
                                 const std::function<bool(size_t)> &flush) {
  std::string prefixed;
  if (addPrefixSpace_ && section.front() != ' ') {
    prefixed.append(" ").append(section);
    section = prefixed;
  }
  const size_t added = prefixed.empty() ? 0 : 1;
  for (size_t position = 0; position < section.size();) {
    const size_t end = wordEnd(split_, section, position);
    model_.encode(section.substr(position, end - position), ids);
    position = end;
    if (!flush(position - added))
      return false;
  }
  return true;
}

size_t BpeTokenizer::lastCut(std::string_view text) const { return mayCut_ ? lastSpaceAfterLetter(text) : 0; }

std::string_view BpeTokenizer::bytesOf(uint32_t id) const {
  const auto found = bytes_.find(id);
  return found == bytes_.end() ? std::string_view() : std::string_view(found->second);
}

std::optional<uint32_t> BpeTokenizer::findToken(std::string_view content) const {
  const auto found = added_.find(content);
  return found == added_.end() ? model_.find(content) : std::optional(found->second);
}

} // namespace trainc
