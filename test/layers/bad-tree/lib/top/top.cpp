#include "tensor/tensor.h"
