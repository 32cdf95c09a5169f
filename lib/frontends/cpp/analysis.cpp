#include "frontends/cpp/analysis.h"

namespace whittle::cpp {

std::string_view name(PredictionKind kind) {
    switch (kind) {
        case PredictionKind::side_effect:
            return "side_effect";
        case PredictionKind::branch:
            return "branch";
        case PredictionKind::item:
            return "item";
        case PredictionKind::data_pointer:
            return "data_pointer";
        case PredictionKind::dynamic_shape:
            return "dynamic_shape";
        case PredictionKind::compare:
            return "compare";
        case PredictionKind::call:
            return "call";
    }
    return "";
}

}  // namespace whittle::cpp
