// cudnn_graph.h for the library that defines what it declares: its names alone are visible outside.
#pragma once

#pragma GCC visibility push(default)
#include <cudnn_graph.h>
#pragma GCC visibility pop
