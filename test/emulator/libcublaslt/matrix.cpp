#include "test/emulator/libcublaslt/matrix.h"

#include "test/emulator/libcuda/extension.h"

#include <fmt/format.h>

namespace trainc::emulator {

Matrices::Matrices(std::string name, uint64_t address, const Layout &layout)
    : name_(std::move(name)), address_(address), layout_(layout) {
  if (layout_.batches == 1)
    layout_.batchStride = 0;
  bytes_ = emulatorBytes(address, lineOffset(layout_.batches - 1, lines() - 1) + lineBytes());
}

uint64_t Matrices::lineOffset(size_t batch, size_t line) const {
  return (batch * layout_.batchStride + line * layout_.ld) * bytesOf(layout_.type);
}

std::optional<std::string> Matrices::whyUnwritable() const {
  if (bytes_)
    return std::nullopt;
  return fmt::format("{}: {} batches of {} x {} elements at {:#x} are not in one allocation", name_,
                     layout_.batches, layout_.rows, layout_.columns, address_);
}

std::optional<std::string> Matrices::whyUnreadable() const {
  if (auto problem = whyUnwritable())
    return problem;
  const size_t batches = layout_.batchStride == 0 ? 1 : layout_.batches;
  for (size_t batch = 0; batch < batches; ++batch)
    for (size_t line = 0; line < lines(); ++line)
      if (!emulatorIsWritten(address_ + lineOffset(batch, line), lineBytes()))
        return fmt::format("{}: batch {}: {} {} has elements that were never written", name_, batch,
                           isByColumns() ? "column" : "row", line);
  return std::nullopt;
}

void Matrices::noteWritten() const {
  for (size_t batch = 0; batch < static_cast<size_t>(layout_.batches); ++batch)
    for (size_t line = 0; line < lines(); ++line)
      emulatorNoteWritten(address_ + lineOffset(batch, line), lineBytes());
}

Matrix Matrices::batch(size_t index) const {
  const auto ld = static_cast<size_t>(layout_.ld);
  return {layout_.type, bytes_ + lineOffset(index, 0), isByColumns() ? 1 : ld, isByColumns() ? ld : 1};
}

Layout vectorLayout(cudaDataType type, uint64_t elements, int32_t batches, int64_t batchStride) {
  return {.type = type,
          .rows = elements,
          .columns = 1,
          .ld = static_cast<int64_t>(elements),
          .batches = batches,
          .batchStride = batchStride};
}

} // namespace trainc::emulator
