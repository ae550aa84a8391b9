#include "runtime/data/text_pieces.h"

#include <algorithm>

namespace trainc {

namespace {

constexpr size_t kPiece = size_t{4} << 20;

} // namespace

Result<std::string_view> TextPieces::next() {
  buffer_.erase(0, given_);
  given_ = 0;
  while (given_ == 0 && offset_ < text_.size()) {
    const size_t held = buffer_.size();
    // Twice as much each time, so that a text without a place to cut is not searched again and again.
    const size_t more = std::min<uint64_t>(std::max(kPiece, held), text_.size() - offset_);
    buffer_.resize(held + more);
    TRAINC_RETURN_IF_ERROR(text_.read(offset_, std::as_writable_bytes(std::span(buffer_)).subspan(held)));
    offset_ += more;
    given_ = tokenizer_.lastCut(buffer_);
  }
  if (offset_ == text_.size())
    given_ = buffer_.size();
  return std::string_view(buffer_).substr(0, given_);
}

} // namespace trainc
