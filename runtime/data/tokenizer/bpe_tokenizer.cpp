#include "runtime/data/tokenizer/bpe_tokenizer.h"

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
/// one returns false, which is then the result. onText receives the offset in `text`.
template <typename OnText, typename OnToken>
bool splitByTokens(const AddedTokens &tokens, std::string_view text, const OnText &onText,
                   const OnToken &onToken) {
  size_t from = 0;
  while (const auto match = tokens.find(text, from)) {
    if (match->begin > from && !onText(from, text.substr(from, match->begin - from)))
      return false;
    if (!onToken(match->id))
      return false;
    from = match->end;
  }
  return from == text.size() || onText(from, text.substr(from));
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
  for (const std::vector<uint32_t> *ids : {&definition.around.before, &definition.around.after})
    for (const uint32_t id : *ids)
      if (!taken.contains(id))
        return invalidInput("{}: post_processor: puts the id {} around texts, which no token has",
                            definition.file, id);
  return {};
}

/// The added tokens; those matched in normalized text are normalized. Tokens whose normal form is empty are
/// never matched.
Result<std::vector<AddedToken>> normalizeAdded(const BpeDefinition &definition,
                                               const Normalizer &normalizer) {
  std::vector<AddedToken> tokens;
  for (AddedToken token : definition.added) {
    if (token.normalized) {
      TRAINC_ASSIGN_OR_RETURN(token.content, normalizer.apply(token.content, /*continues=*/false));
    }
    if (!token.content.empty())
      tokens.push_back(std::move(token));
  }
  return tokens;
}

} // namespace

/// State of one call of encode(). A method returns false if encoding ended early, with `status` set.
class BpeTokenizer::Encoding {
public:
  Encoding(BpeTokenizer &tokenizer, const Emit &emit) : tokenizer_(tokenizer), emit_(emit) {}

  Status run(std::string_view text, bool continues) {
    const bool complete = splitByTokens(
        tokenizer_.first_, text,
        [&](size_t at, std::string_view stretch) {
          done_ = at;
          return encodeStretch(stretch, at > 0      ? StretchPlace::kAfter
                                        : continues ? StretchPlace::kContinues
                                                    : StretchPlace::kFirst);
        },
        [&](uint32_t id) { return add(id); });
    if (complete)
      status_ = emit_(ids_, text.size());
    return status_;
  }

private:
  /// Encodes a stretch without added tokens of first_. Bytes that are not UTF-8 are words of their own.
  bool encodeStretch(std::string_view stretch, StretchPlace place) {
    while (!stretch.empty()) {
      const size_t valid = utf8Prefix(stretch);
      if (valid > 0 && !normalize(stretch.substr(0, valid), place))
        return false;
      stretch.remove_prefix(valid);
      const size_t invalid = invalidPrefix(stretch);
      if (invalid > 0)
        tokenizer_.model_.encodeInvalid(stretch.substr(0, invalid), ids_);
      stretch.remove_prefix(invalid);
      place = StretchPlace::kContinues;
      done_ += valid + invalid;
    }
    return flush();
  }

  bool normalize(std::string_view text, StretchPlace place) {
    if (tokenizer_.normalizer_.steps().empty())
      return encodeNormalized(text, place);
    const Result<std::string> normal = tokenizer_.normalizer_.apply(text, place == StretchPlace::kContinues);
    if (!normal.ok()) {
      status_ = normal.status();
      return false;
    }
    return encodeNormalized(*normal, place);
  }

  bool encodeNormalized(std::string_view text, StretchPlace place) {
    return splitByTokens(
        tokenizer_.second_, text,
        [&](size_t at, std::string_view section) {
          return tokenizer_.preTokenizer_.forEachWord(section, at == 0 ? place : StretchPlace::kAfter,
                                                      status_, [&](std::string_view word) {
                                                        tokenizer_.model_.encode(word, ids_);
                                                        return flush();
                                                      });
        },
        [&](uint32_t id) { return add(id); });
  }

  bool add(uint32_t id) {
    ids_.push_back(id);
    return flush();
  }

  bool flush() {
    if (ids_.size() < kFlushIds)
      return true;
    status_ = emit_(ids_, done_);
    ids_.clear();
    return status_.ok();
  }

  BpeTokenizer &tokenizer_;
  const Emit &emit_;
  Status status_;
  std::vector<uint32_t> ids_;
  size_t done_ = 0; ///< bytes of the text before the current stretch
};

class BpeTokenizer::Decoder : public TokenDecoder {
public:
  explicit Decoder(const BpeTokenizer &tokenizer) : tokenizer_(tokenizer), steps_(tokenizer.decoderSteps_) {}

  std::string next(uint32_t id) override {
    const auto found = tokenizer_.pieces_.find(id);
    if (found == tokenizer_.pieces_.end())
      return "";
    const auto &[text, added] = found->second;
    return added && tokenizer_.units_ != Units::kCharacters ? text : steps_.next(text);
  }

private:
  const BpeTokenizer &tokenizer_;
  StepDecoder steps_;
};

Result<std::unique_ptr<Tokenizer>> BpeTokenizer::create(BpeDefinition definition, uint64_t fingerprint) {
  TRAINC_ASSIGN_OR_RETURN(BpeModel model, BpeModel::create(definition));
  TRAINC_RETURN_IF_ERROR(verifyAdded(definition, model));
  Normalizer normalizer(std::move(definition.normalizer));
  TRAINC_ASSIGN_OR_RETURN(std::vector<AddedToken> added, normalizeAdded(definition, normalizer));
  return std::unique_ptr<Tokenizer>(new BpeTokenizer(std::move(definition), std::move(normalizer),
                                                     std::move(added), std::move(model), fingerprint));
}

BpeTokenizer::BpeTokenizer(BpeDefinition definition, Normalizer normalizer, std::vector<AddedToken> added,
                           BpeModel model, uint64_t fingerprint)
    : model_(std::move(model)), normalizer_(std::move(normalizer)),
      preTokenizer_(std::move(definition.preTokenizer)), first_(select(added, false)),
      second_(select(added, true)), cutPlaces_(findCutPlaces(normalizer_, preTokenizer_, added,
                                                             definition.ignoreMerges ? nullptr : &model_)),
      around_(std::move(definition.around)), fingerprint_(fingerprint), units_(definition.units),
      decoderSteps_(std::move(definition.decoder)) {
  const auto add = [&](uint32_t id, Piece piece) {
    vocabulary_ = std::max(vocabulary_, uint64_t{id} + 1);
    pieces_.insert_or_assign(id, std::move(piece));
  };
  for (const auto &[token, id] : model_.vocabulary())
    add(id, {token, false});
  for (const AddedToken &token : definition.added) {
    add(token.id, {token.content, true});
    added_.emplace(token.content, token.id);
  }
  for (const AddedToken &token : added) // the decoder undoes the normalizer
    add(token.id, {token.content, true});
}

Status BpeTokenizer::encode(std::string_view text, bool continues, const Emit &emit) {
  return Encoding(*this, emit).run(text, continues);
}

std::unique_ptr<TokenDecoder> BpeTokenizer::decoder() const { return std::make_unique<Decoder>(*this); }

std::optional<uint32_t> BpeTokenizer::findToken(std::string_view content) const {
  const auto found = added_.find(content);
  return found == added_.end() ? model_.find(content) : std::optional(found->second);
}

} // namespace trainc
