#include "Buffer.h"

#include "lib/Codegen/Target.h"
#include "lib/Support/StoredElement.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>
#include <sys/mman.h>

using namespace mlir;
using namespace trainc;
using namespace trainc::check;
using reference::Tensor;

static constexpr size_t kPage = 4096;

void Buffer::Unmap::operator()(std::byte *pages) const { munmap(pages, bytes); }

Buffer::Buffer(int64_t bytes) : size_(bytes) {
  const size_t padded = llvm::alignTo(std::max<int64_t>(bytes, 1), 64), usable = llvm::alignTo(padded, kPage);
  void *pages = mmap(nullptr, usable + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED)
    llvm::report_bad_alloc_error("no memory for a tensor");
  pages_ = std::unique_ptr<std::byte, Unmap>(static_cast<std::byte *>(pages), Unmap{usable + kPage});
  mprotect(pages_.get() + usable, kPage, PROT_NONE);
  data_ = pages_.get() + (usable - padded);
  std::memset(data_, 0xFF, padded);
}

namespace {

/// A number of a type that C++20 lacks: bf16, f16 or fp8.
template <typename Bits, const llvm::fltSemantics &(*semantics)()> struct ShortFloat {
  Bits bits;

  ShortFloat() = default;
  explicit ShortFloat(double number) {
    APFloat value(number);
    bool inexact;
    value.convert(semantics(), APFloat::rmNearestTiesToEven, &inexact);
    bits = Bits(value.bitcastToAPInt().getZExtValue());
  }
  explicit ShortFloat(int64_t number) : ShortFloat(double(number)) {}
  explicit operator double() const {
    return APFloat(semantics(), APInt(8 * sizeof(Bits), bits)).convertToDouble();
  }
  explicit operator int64_t() const { return int64_t(double(*this)); }
};

} // namespace

/// Calls `visit(Element())` with a value of the element's C++ type.
template <typename Visit> static void withElement(Type element, Visit visit) {
  if (element.isF32())
    visit(float());
  else if (element.isF64())
    visit(double());
  else if (element.isBF16())
    visit(ShortFloat<uint16_t, APFloat::BFloat>());
  else if (element.isF16())
    visit(ShortFloat<uint16_t, APFloat::IEEEhalf>());
  else if (isa<Float8E4M3FNType>(element))
    visit(ShortFloat<uint8_t, APFloat::Float8E4M3FN>());
  else if (isa<Float8E5M2Type>(element))
    visit(ShortFloat<uint8_t, APFloat::Float8E5M2>());
  else if (element.isInteger(64))
    visit(int64_t());
  else if (element.isInteger(32))
    visit(int32_t());
  else
    visit(uint8_t());
}

Buffer::Buffer(const Tensor &tensor)
    : Buffer(tensor.elements() * elementBytes(tensor.type().getElementType())) {
  withElement(tensor.type().getElementType(), [&]<typename Element>(Element) {
    auto *to = static_cast<Element *>(data());
    for (int64_t i = 0; i < tensor.elements(); ++i)
      to[i] = tensor.isFloat() ? Element(tensor.reals[i]) : Element(tensor.integers[i]);
  });
}

Tensor Buffer::read(RankedTensorType type) const {
  Tensor tensor(type);
  withElement(type.getElementType(), [&]<typename Element>(Element) {
    const auto *from = static_cast<const Element *>(data());
    for (int64_t i = 0; i < tensor.elements(); ++i)
      if (tensor.isFloat())
        tensor.reals[i] = double(from[i]);
      else
        tensor.integers[i] = int64_t(from[i]);
  });
  return tensor;
}

Tensor check::rounded(const Tensor &tensor) { return Buffer(tensor).read(tensor.type()); }
