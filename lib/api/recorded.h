// Recorded calls of graphs, as `trace` leaves them in a folder: what full_code.cpp and tests of one's own run on.
#ifndef WHITTLE_API_RECORDED_H
#define WHITTLE_API_RECORDED_H

#include <whittle/api/tensor.h>

#include <map>
#include <string>

WHITTLE_API_BEGIN

struct RecordedCall {
    TensorList inputs = {};                         ///< one per placeholder of the graph
    TensorList expected = {};                       ///< one per output
    std::map<std::string, Tensor> parameters = {};  ///< of the graph, by qualified name
};

/// Reads records/NAME.json of a folder that trace wrote. Throws std::exception with file, place and reason.
RecordedCall load_record(const std::string& file);

WHITTLE_API_END

#endif
