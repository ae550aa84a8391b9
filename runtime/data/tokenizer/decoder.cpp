#include "runtime/data/tokenizer/decoder.h"

#include "runtime/data/tokenizer/byte_alphabet.h"
#include "runtime/data/tokenizer/fallback_byte.h"
#include "runtime/data/tokenizer/unicode.h"

#include <type_traits>
#include <utility>

namespace trainc {

namespace {

std::string replaced(std::string_view text, std::string_view pattern, std::string_view content) {
  std::string out;
  for (size_t position = 0;;) {
    const size_t found = text.find(pattern, position);
    out.append(text.substr(position, found - position));
    if (found == std::string_view::npos || out.size() > kMaxTokenBytes)
      return out;
    out.append(content);
    position = found + pattern.size();
  }
}

/// Strips up to `maximum` of `content` from the start of `text`; returns true if more may follow in later
/// text.
bool stripStart(std::string &text, std::string_view content, uint64_t &maximum) {
  for (; maximum > 0 && text.starts_with(content); --maximum)
    text.erase(0, content.size());
  return maximum > 0 && text.empty();
}

void stripEnd(std::string &text, std::string_view content, uint64_t maximum) {
  for (; maximum > 0 && text.ends_with(content); --maximum)
    text.erase(text.size() - content.size());
}

void joinWordPiece(std::string &token, const JoinWordPieces &step, bool first) {
  // Hugging Face's list and order.
  constexpr std::pair<std::string_view, std::string_view> kCleanups[] = {
      {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},   {" n't", "n't"},
      {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  if (!first && token.starts_with(step.prefix))
    token.erase(0, step.prefix.size());
  else if (!first)
    token.insert(0, " ");
  if (step.cleanup && token.find(' ') != std::string::npos)
    for (const auto &[pattern, content] : kCleanups)
      token = replaced(token, pattern, content);
}

} // namespace

StepDecoder::StepDecoder(const std::vector<DecoderStep> &steps) : steps_(steps) {
  for (const DecoderStep &step : steps_) {
    const auto *strip = std::get_if<StripFrom>(&step);
    stripped_.push_back(strip ? strip->start : 0);
  }
}

std::string StepDecoder::next(std::string token) {
  const bool first = std::exchange(first_, false);
  for (size_t i = 0; i < steps_.size(); ++i)
    std::visit(
        [&](const auto &step) {
          using Step = std::decay_t<decltype(step)>;
          if constexpr (std::is_same_v<Step, ReplaceInToken>) {
            token = replaced(token, step.pattern, step.content);
          } else if constexpr (std::is_same_v<Step, FallbackBytes>) {
            if (const auto byte = fallbackByte(token))
              token.assign(1, static_cast<char>(*byte));
          } else if constexpr (std::is_same_v<Step, FromByteAlphabet>) {
            token = bytesOfToken(token).value_or(token);
          } else if constexpr (std::is_same_v<Step, MetaspaceToSpace>) {
            token = replaced(token, step.replacement, first && step.dropFirst ? "" : " ");
          } else if constexpr (std::is_same_v<Step, JoinWordPieces>) {
            joinWordPiece(token, step, first);
          } else if constexpr (std::is_same_v<Step, JoinWithSpaces>) {
            if (!first)
              token.insert(0, " ");
          } else if (step.ofText) {
            if (!stripStart(token, step.content, stripped_[i]))
              stripped_[i] = 0;
          } else {
            uint64_t start = step.start;
            stripStart(token, step.content, start);
            stripEnd(token, step.content, step.stop);
          }
        },
        steps_[i]);
  return token;
}

std::string TextStream::next(uint32_t id) {
  held_ += decoder_->next(id);
  const size_t unfinished = unfinishedBytes(held_);
  std::string complete = held_.substr(0, held_.size() - unfinished);
  held_.erase(0, complete.size());
  return complete;
}

} // namespace trainc
