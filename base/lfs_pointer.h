// Pointers of Git LFS: small texts in place of large files that were not fetched.
#pragma once

#include <string_view>

namespace trainc {

/// The begin of each pointer.
inline constexpr std::string_view kLfsPointer = "version https://git-lfs.github.com/spec/";
/// The kind of such a file, and what to do, for messages.
inline constexpr std::string_view kLfsName = "a pointer of Git LFS";
inline constexpr std::string_view kLfsAdvice = "fetch the file itself: git lfs pull";

} // namespace trainc
