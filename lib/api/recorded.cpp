#define WHITTLE_API_IMPLEMENTATION
#include "api/recorded.h"

#include "api/impl.h"
#include "trace/record.h"

namespace whittle::api {

RecordedCall load_record(const std::string& file) {
    const LoadedRecord loaded = whittle::load_record(file);
    RecordedCall call;
    for (const whittle::Tensor& input : loaded.record.inputs) call.inputs.push_back(wrap(input));
    for (const whittle::Tensor& output : loaded.record.expected) call.expected.push_back(wrap(output));
    for (const auto& [name, tensor] : loaded.graph.attributes) call.parameters.emplace(name, wrap(tensor));
    return call;
}

}  // namespace whittle::api
