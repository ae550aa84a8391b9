// Includes nccl.h with default visibility: only its names are exported by the library.
#pragma once

#pragma GCC visibility push(default)
#include <nccl.h>
#pragma GCC visibility pop
