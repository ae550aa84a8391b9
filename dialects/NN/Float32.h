// Numbers as steps see them: settings are f64 in the text, and f32 where they are used.
#pragma once

#include <string>

namespace trainc {

/// `value` rounded to f32; infinite beyond its range.
float inF32(double value);

/// `value` for a message, with what becomes of it where that matters: "1e-60, which is 0 in f32".
std::string formatInF32(double value);

} // namespace trainc
