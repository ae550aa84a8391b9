// What NVIDIA's data sheets promise of GPUs: predictions and measurements are held to the same numbers.
#pragma once

#include <string_view>

namespace trainc {

/// Of products of bf16 and f16 numbers with sums in f32, dense, in FLOP/s. Data sheets of A100 (2021), H100
/// and H200 (2024), which count at a lower clock than the highest that the driver tells. Those of TF32 are
/// half of it, those of fp8 twice, where there are any.
inline constexpr double kA100HalfFlops = 312e12, kH100HalfFlops = 989.4e12, kH100PcieHalfFlops = 756.5e12,
                        kHopperNvlHalfFlops = 835.5e12;

/// By the driver's name of a GPU, e.g. "NVIDIA H100 80GB HBM3"; 0 where no data sheet is known.
inline constexpr double halfFlopsOnSheet(std::string_view gpu) {
  const auto isCalled = [&](std::string_view part) { return gpu.find(part) != std::string_view::npos; };
  if (isCalled("H100 NVL") || isCalled("H200 NVL"))
    return kHopperNvlHalfFlops;
  if (isCalled("H100 PCIe"))
    return kH100PcieHalfFlops;
  if (isCalled("H100") || isCalled("H200"))
    return kH100HalfFlops;
  return isCalled("A100") ? kA100HalfFlops : 0;
}

} // namespace trainc
