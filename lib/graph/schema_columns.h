// Where the parts of a schema's text are, for messages about what they declare.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace whittle {

/// Columns, from 1.
struct SchemaColumns {
    std::vector<std::size_t> params = {}, returns = {};

    /// Of a text that Schema::parse() takes; throws its Error for another.
    static SchemaColumns of(std::string_view schema);
};

/// The mistake at that column of a schema's text: what was found there, and what was expected.
inline Error schema_error(std::size_t column, const std::string& found, const std::string& expected,
                          std::string_view schema) {
    return Error({"", "column " + std::to_string(column)},
                 "found " + found + ", expected " + expected + " in the schema \"" + std::string(schema) + "\"");
}

}  // namespace whittle
