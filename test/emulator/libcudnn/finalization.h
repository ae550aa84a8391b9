// Finalization of descriptors.
#pragma once

#include "test/emulator/libcudnn/library.h"

namespace trainc::emulator {

/// Checks a descriptor with all required attributes, and computes derived data.
cudnnStatus_t finalize(const CudnnCall &call, Descriptor &descriptor);

} // namespace trainc::emulator
