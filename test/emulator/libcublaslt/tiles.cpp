#include "test/emulator/libcublaslt/tiles.h"

#include <cmath>
#include <cstring>

namespace trainc::emulator {

void multiplyTile(const float *rows, const float *columns, size_t depth, Tile &sums) {
  Tile local = {};
  for (size_t step = 0; step < depth; ++step, rows += kTileRows, columns += kTileColumns)
    for (size_t column = 0; column < kTileColumns; ++column)
      for (size_t row = 0; row < kTileRows; ++row)
        local[column][row] = std::fma(rows[row], columns[column], local[column][row]);
  std::memcpy(sums, local, sizeof local);
}

} // namespace trainc::emulator
