// Reading and verifying the header of a safetensors file.
#pragma once

#include "runtime/formats/safetensors_view.h"

namespace trainc {

/// What a header says, verified against the file: tensors in the order of their bytes.
struct SafetensorsHeader {
  std::vector<SafetensorsTensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// Reads the header of the file `name` with content `bytes`; see SafetensorsView::open for what is verified.
Result<SafetensorsHeader> readSafetensorsHeader(const std::string &name, std::span<const std::byte> bytes);

} // namespace trainc
