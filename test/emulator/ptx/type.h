// Types of PTX operands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainc::emulator {

/// A type such as `.u32`, `.f16x2` or `.pred`.
struct Type {
  enum class Kind : uint8_t {
    kBits,
    kUnsigned,
    kSigned,
    kFloat,
    kBrainFloat,
    kTensorFloat,
    kPredicate,
    kE4M3,
    kE5M2
  };

  Kind kind = Kind::kBits;
  uint8_t bits = 0;  ///< of an element
  uint8_t count = 1; ///< number of elements: 2 if packed

  bool operator==(const Type &) const = default;
  bool isFloat() const { return kind >= Kind::kFloat && kind <= Kind::kTensorFloat; }
  bool isInteger() const { return kind <= Kind::kSigned; }
  bool isSigned() const { return kind == Kind::kSigned; }
  unsigned width() const { return unsigned{bits} * count; }
  unsigned bytes() const { return (width() + 7) / 8; }
  std::string name() const;
};

/// The type named by a modifier without its dot, such as "u32"; nothing if it is not a type.
std::optional<Type> typeOf(std::string_view modifier);

} // namespace trainc::emulator
