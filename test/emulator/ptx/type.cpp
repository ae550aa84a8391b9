#include "test/emulator/ptx/type.h"

#include <array>
#include <utility>

namespace trainc::emulator {

namespace {

constexpr std::array kTypes = {
    std::pair{std::string_view("b8"), Type{Type::Kind::kBits, 8}},
    std::pair{std::string_view("b16"), Type{Type::Kind::kBits, 16}},
    std::pair{std::string_view("b32"), Type{Type::Kind::kBits, 32}},
    std::pair{std::string_view("b64"), Type{Type::Kind::kBits, 64}},
    std::pair{std::string_view("u8"), Type{Type::Kind::kUnsigned, 8}},
    std::pair{std::string_view("u16"), Type{Type::Kind::kUnsigned, 16}},
    std::pair{std::string_view("u32"), Type{Type::Kind::kUnsigned, 32}},
    std::pair{std::string_view("u64"), Type{Type::Kind::kUnsigned, 64}},
    std::pair{std::string_view("s8"), Type{Type::Kind::kSigned, 8}},
    std::pair{std::string_view("s16"), Type{Type::Kind::kSigned, 16}},
    std::pair{std::string_view("s32"), Type{Type::Kind::kSigned, 32}},
    std::pair{std::string_view("s64"), Type{Type::Kind::kSigned, 64}},
    std::pair{std::string_view("f16"), Type{Type::Kind::kFloat, 16}},
    std::pair{std::string_view("f32"), Type{Type::Kind::kFloat, 32}},
    std::pair{std::string_view("f64"), Type{Type::Kind::kFloat, 64}},
    std::pair{std::string_view("f16x2"), Type{Type::Kind::kFloat, 16, 2}},
    std::pair{std::string_view("bf16"), Type{Type::Kind::kBrainFloat, 16}},
    std::pair{std::string_view("bf16x2"), Type{Type::Kind::kBrainFloat, 16, 2}},
    std::pair{std::string_view("tf32"), Type{Type::Kind::kTensorFloat, 32}},
    std::pair{std::string_view("e4m3x2"), Type{Type::Kind::kE4M3, 8, 2}},
    std::pair{std::string_view("e5m2x2"), Type{Type::Kind::kE5M2, 8, 2}},
    std::pair{std::string_view("pred"), Type{Type::Kind::kPredicate, 1}},
};

} // namespace

std::string Type::name() const {
  for (const auto &[name, type] : kTypes)
    if (type == *this)
      return "." + std::string(name);
  return "no type";
}

std::optional<Type> typeOf(std::string_view modifier) {
  for (const auto &[name, type] : kTypes)
    if (name == modifier)
      return type;
  return std::nullopt;
}

} // namespace trainc::emulator
