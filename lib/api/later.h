// print_later(): output in a compiled function that does not end its graph.
#ifndef WHITTLE_API_LATER_H
#define WHITTLE_API_LATER_H

#include <whittle/api/tensor.h>

#include <string>

WHITTLE_API_BEGIN

/// Prints `format` to standard output with the tensors in place of its "{}", as operator<< shows them; "{{" and "}}"
/// are braces. In a compiled function that is once their values are there, the line's own order kept: when the graph
/// ends, at the latest when the function returns. So it is no graph break, and the tensors are outputs of the graph.
/// Each is shown as it is now, whatever is written to it afterwards. Elsewhere it prints at once. Throws where there
/// are not as many "{}" as tensors, and for an undefined tensor.
WHITTLE_API_CALL void print_later(const std::string& format, const TensorList& tensors);
template <class... Tensors>
void print_later(const std::string& format, const Tensors&... tensors) {
    print_later(format, TensorList{tensors...});
}

WHITTLE_API_END

#endif
