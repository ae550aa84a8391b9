// Includes cudnn_graph.h with default visibility: only its names are exported by the library.
#pragma once

#pragma GCC visibility push(default)
#include <cudnn_graph.h>
#pragma GCC visibility pop
