// Peak rates of NVIDIA's data sheets, used by predictions and measurements alike.
#pragma once

#include <string_view>

namespace trainc {

/// Dense FLOP/s of bf16 and f16 products with f32 accumulation, from the data sheets of A100 (2021), H100 and
/// H200 (2024), which assume a lower clock than the driver's maximum. TF32 has half the rate; fp8, if
/// supported, twice.
inline constexpr double kA100HalfFlops = 312e12, kH100HalfFlops = 989.4e12, kH100PcieHalfFlops = 756.5e12,
                        kHopperNvlHalfFlops = 835.5e12;

/// Rate by the driver's name of a GPU, e.g. "NVIDIA H100 80GB HBM3"; 0 if unknown.
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
