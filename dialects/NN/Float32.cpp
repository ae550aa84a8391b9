#include "dialects/NN/Float32.h"

#include "dialects/NN/Syntax.h"

#include "llvm/ADT/APFloat.h"

#include <cmath>

float trainc::inF32(double value) {
  llvm::APFloat number(value);
  bool inexact = false;
  number.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &inexact);
  return number.convertToFloat();
}

std::string trainc::formatInF32(double value) {
  std::string text = formatNumber(value);
  float rounded = inF32(value);
  if (std::isinf(rounded) && std::isfinite(value))
    return text + ", which is infinite in f32";
  if ((rounded == 0 || rounded == 1) && double(rounded) != value)
    return text + ", which is " + formatNumber(rounded) + " in f32";
  return text;
}
