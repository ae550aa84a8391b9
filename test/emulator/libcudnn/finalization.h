// What finalizing makes of a descriptor.
#pragma once

#include "test/emulator/libcudnn/library.h"

namespace trainc::emulator {

/// Checks a descriptor that has all attributes that it needs, and adds what follows from them.
cudnnStatus_t finalize(const CudnnCall &call, Descriptor &descriptor);

} // namespace trainc::emulator
