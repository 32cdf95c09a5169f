#include <Halide.h>

#include "base.h"
