// Philox4x32-10, the counter-based generator.
#pragma once

#include <array>
#include <cstdint>

namespace trainc::reference {

/// Returns four random words for a counter under a key (Salmon et al., "Parallel random numbers: as easy as
/// 1, 2, 3", 2011).
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

} // namespace trainc::reference
