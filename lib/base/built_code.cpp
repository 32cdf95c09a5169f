#include "base/built_code.h"

#include <dlfcn.h>

#include "base/error.h"
#include "base/subprocess.h"
#include "base/words.h"

namespace whittle {
namespace {

/// The first error, or all that there is.
std::string first_error(const ProcessResult& compiler) {
    const std::string said = compiler.err.empty() ? ending_of(compiler) : compiler.err;
    const std::size_t error = said.find("error:");
    const std::size_t begin = error == said.npos ? 0 : error;
    return said.substr(begin, said.find('\n', begin) - begin);
}

}  // namespace

BuiltCode::BuiltCode(const std::filesystem::path& source, const std::vector<std::string>& words) : library_(source) {
    library_.replace_extension(".so");
    std::vector<std::string> command = {"g++", "-std=c++20", "-g", "-O0", "-w", "-shared", "-fPIC", source.string()};
    append(command, words);
    command.insert(command.end(), {"-o", library_.string()});
    if (const ProcessResult compiler = run_process(command); !compiler.good())
        throw Error({source.string(), {}}, "cannot build this file: " + first_error(compiler),
                    "to see all errors: " + shell_quote(command));
    handle_ = ::dlopen(library_.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle_) throw Error({library_.string(), {}}, std::string("cannot load the library: ") + ::dlerror());
}

void* BuiltCode::symbol(const char* name) const {
    void* const found = ::dlsym(handle_, name);
    if (!found) throw Error({library_.string(), {}}, std::string("found no symbol ") + name + " in it");
    return found;
}

}  // namespace whittle
