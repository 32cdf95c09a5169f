// The op families of families.def. A family is a list of OpDef records with static lifetime, constexpr because programs
// may compute before main(); everything about its ops stays in its own files.
#pragma once

#include <span>

#include "ops/core/op.h"

namespace whittle {

#define WHITTLE_FAMILY(dialect, name) std::span<const OpDef> name##_ops();
#include "ops/aten/families.def"
#undef WHITTLE_FAMILY

}  // namespace whittle
