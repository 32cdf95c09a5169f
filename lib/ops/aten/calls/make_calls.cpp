// Writes calls.h and calls.cpp: each ATen op as a function of values, as ATen's C++ API has it, so that a misspelt op
// or an argument too many does not compile. The schemas are the string literals of the records in lib/ops/aten.
//   make_calls FOLDER SOURCE…    writes FOLDER/calls.h and FOLDER/calls.cpp
#include <algorithm>
#include <cctype>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "ops/core/schema_forms.h"

namespace {

using Texts = std::vector<std::string>;

[[noreturn]] void fail(const std::string& message) { throw std::runtime_error(message); }

std::string trimmed(const std::string& text) {
    const std::size_t from = text.find_first_not_of(" \n\t"), to = text.find_last_not_of(" \n\t");
    return from == std::string::npos ? "" : text.substr(from, to - from + 1);
}

/// The parts between `separator`, but within brackets and quotes.
Texts split(const std::string& text, char separator) {
    Texts parts(1);
    int depth = 0;
    bool quoted = false;
    for (const char c : text) {
        if (c == '"') quoted = !quoted;
        if (c == '(' || c == '[') ++depth;
        if (c == ')' || c == ']') --depth;
        if (c == separator && depth == 0 && !quoted)
            parts.emplace_back();
        else
            parts.back() += c;
    }
    for (std::string& part : parts) part = trimmed(part);
    return parts.size() == 1 && parts[0].empty() ? Texts() : parts;
}

// --- Schemas in C++ sources ---

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// The literal that starts at `at`, a quote; `at` moves behind it.
std::string literal(const std::string& source, std::size_t& at) {
    std::string text;
    for (++at; source.at(at) != '"'; ++at) {
        if (source[at] == '\\') ++at;
        text += source.at(at);
    }
    ++at;
    return text;
}

/// Macros without parameters that are string literals.
std::map<std::string, std::string> macros_of(const std::string& source) {
    const std::string kDefine = "#define ";
    std::map<std::string, std::string> macros;
    for (std::size_t at = 0; (at = source.find(kDefine, at)) != std::string::npos;) {
        at += kDefine.size();
        std::size_t end = at;
        while (is_word(source.at(end))) ++end;
        const std::string name = source.substr(at, end - at);
        const auto skip = [&] {
            while (source[end] == ' ' || (source[end] == '\\' && source[end + 1] == '\n' && ++end)) ++end;
            return source[end];
        };
        while (skip() == '"') macros[name] += literal(source, end);
    }
    return macros;
}

/// "add.Tensor(Tensor self, …) -> Tensor"
bool is_schema(const std::string& text) {
    std::size_t at = 0;
    while (at < text.size() && (is_word(text[at]) || text[at] == '.')) ++at;
    return at > 0 && text[0] != '.' && at < text.size() && text[at] == '(' && text.find(") -> ") != std::string::npos;
}

/// Literals that stand side by side, with macros between them, are one.
void add_schemas(const std::string& source, const std::map<std::string, std::string>& macros,
                 std::set<std::string>& schemas) {
    std::string text;
    bool open = false;
    const auto close = [&] {
        if (open)
            for (const std::string& form : whittle::schema_forms(text))
                if (is_schema(form)) schemas.insert(form);
        text.clear();
        open = false;
    };
    for (std::size_t at = 0; at < source.size();) {
        const char c = source[at];
        if (c == '"') {
            text += literal(source, at);
            open = true;
        } else if (c == '\'') {
            at += source.at(at + 1) == '\\' ? 4 : 3;
            close();
        } else if (source.compare(at, 2, "//") == 0) {
            at = std::min(source.find('\n', at), source.size());
        } else if (is_word(c)) {
            std::size_t end = at;
            while (end < source.size() && is_word(source[end])) ++end;
            const auto macro = macros.find(source.substr(at, end - at));
            if (macro == macros.end())
                close();
            else
                text += macro->second, open = true;
            at = end;
        } else {
            if (!std::isspace(static_cast<unsigned char>(c))) close();
            ++at;
        }
    }
    close();
}

// --- A schema as a function ---

struct Param {
    std::string type, name, fallback;
    bool has_fallback = false, optional = false;

    /// There is one layout and one device, so functions have no such parameters.
    bool left_out() const { return type == "Layout" || type == "Device" || name == "pin_memory"; }
};

struct Function {
    std::string schema, name, overload;
    std::vector<Param> params = {};
    int results = 1;  ///< -1: a list
};

/// C++'s type of a parameter that is not optional, and how it is passed.
std::string type_of(const std::string& type) {
    static const std::map<std::string, std::string> kTypes = {{"Tensor", "V"},
                                                              {"Tensor[]", "Vs"},
                                                              {"Tensor?[]", "std::vector<OptionalV>"},
                                                              {"int", "std::int64_t"},
                                                              {"SymInt", "std::int64_t"},
                                                              {"float", "double"},
                                                              {"bool", "bool"},
                                                              {"Scalar", "Scalar"},
                                                              {"str", "std::string"},
                                                              {"ScalarType", "DType"},
                                                              {"Layout", "std::string"},
                                                              {"Device", "std::string"},
                                                              {"MemoryFormat", "std::string"},
                                                              {"Generator", "V"},
                                                              {"Dimname", "std::string"},
                                                              {"int[]", "Ints"},
                                                              {"SymInt[]", "Ints"},
                                                              {"float[]", "std::vector<double>"},
                                                              {"bool[]", "std::vector<bool>"},
                                                              {"Graph", "GraphRef"},
                                                              {"str[]", "std::vector<std::string>"}};
    std::string plain = type;
    const std::size_t length = plain.find('[');
    if (length != std::string::npos && plain[length + 1] != ']') plain = plain.substr(0, length) + "[]";
    const auto found = kTypes.find(plain);
    return found == kTypes.end() ? "" : found->second;
}

bool is_small(const std::string& type) {
    return type == "std::int64_t" || type == "double" || type == "bool" || type == "DType";
}

std::string passed(const Param& param) {
    const std::string type = type_of(param.type);
    if (param.optional) return is_small(type) ? "std::optional<" + type + ">" : "const std::optional<" + type + ">&";
    return is_small(type) ? type : "const " + type + "&";
}

std::string fallback_of(const Param& param) {
    const std::string& text = param.fallback;
    if (text == "None" || text == "[]") return "{}";
    if (param.type.starts_with("ScalarType") && (text == "long" || text == "float"))
        return text == "long" ? "DType::i64" : "DType::f32";
    if (text == "True" || text == "False") return text == "True" ? "true" : "false";
    if (type_of(param.type) == "Ints" || type_of(param.type) == "std::vector<bool>") {
        if (text.starts_with('[')) return type_of(param.type) + "{" + text.substr(1, text.size() - 2) + "}";
        const int length = std::stoi(param.type.substr(param.type.find('[') + 1));
        std::string list;
        for (int i = 0; i < length; ++i)
            list += (i == 0 ? "" : ", ") + (text == "True" || text == "False" ? fallback_of({"bool", "", text}) : text);
        return type_of(param.type) + "{" + list + "}";
    }
    if (text.starts_with('\'')) return '"' + text.substr(1, text.size() - 2) + '"';
    if (type_of(param.type) == "std::string" && !text.starts_with('"')) return '"' + text + '"';
    return text;
}

/// Whether the schema is a function of values: ops that write into an operand are none, nor those that must be told a
/// device, which have another overload.
bool parse(const std::string& schema, Function& function) {
    function.schema = schema;
    const std::size_t open = schema.find('('), arrow = schema.rfind(" -> ");
    const std::string name = schema.substr(0, open), returns = trimmed(schema.substr(arrow + 4));
    const std::size_t dot = name.find('.');
    function.name = name.substr(0, dot);
    function.overload = dot == std::string::npos ? "default" : name.substr(dot + 1);
    if (schema.find("!)") != std::string::npos) return false;
    for (std::string text : split(schema.substr(open + 1, schema.rfind(')', arrow) - open - 1), ',')) {
        if (text == "*") continue;
        Param param;
        if (const std::size_t equals = text.find('='); equals != std::string::npos) {
            param.fallback = text.substr(equals + 1);
            param.has_fallback = true;
            text.resize(equals);
        }
        const std::size_t space = text.rfind(' ');
        param.name = text.substr(space + 1);
        param.type = text.substr(0, space);
        if (const std::size_t alias = param.type.find('('); alias != std::string::npos)
            param.type.erase(alias, param.type.find(')') - alias + 1);
        if (param.type.ends_with('?')) param.optional = true, param.type.pop_back();
        if (type_of(param.type).empty())
            fail(schema + ": found a parameter of type '" + param.type +
                 "', expected one of the types that calls have");
        if (param.left_out() && !param.has_fallback) return false;
        function.params.push_back(param);
    }
    if (returns.starts_with('('))
        function.results = static_cast<int>(split(returns.substr(1, returns.size() - 2), ',').size());
    else if (returns.find("[]") != std::string::npos)
        function.results = -1;
    return function.results != 0;
}

/// The builder: that of the first value, or an argument of its own.
std::string builder_of(const Function& function) {
    for (const Param& param : function.params) {
        if (param.optional) continue;
        if (param.type == "Tensor") return "*" + param.name + ".builder";
        if (param.type == "Tensor[]") return "builder_of(" + param.name + ")";
    }
    return "builder";
}

std::string result_of(const Function& function) {
    if (function.results < 0) return "Vs";
    return function.results == 1 ? "V" : "std::array<V, " + std::to_string(function.results) + ">";
}

std::string signature(const Function& function, bool names, bool fallbacks) {
    std::string list = builder_of(function) == "builder" ? (names ? "GraphBuilder& builder" : "GraphBuilder&") : "";
    bool all_fall_back = true;  // C++: defaults come last
    Texts reversed;
    for (auto param = function.params.rbegin(); param != function.params.rend(); ++param) {
        if (param->left_out()) continue;
        all_fall_back = all_fall_back && param->has_fallback;
        reversed.push_back(passed(*param) + (names ? " " + param->name : "") +
                           (fallbacks && all_fall_back ? " = " + fallback_of(*param) : ""));
    }
    for (auto text = reversed.rbegin(); text != reversed.rend(); ++text) list += (list.empty() ? "" : ", ") + *text;
    return list;
}

std::string definition(const Function& function, const std::string& name) {
    std::string args;
    for (const Param& param : function.params)
        args += (args.empty() ? "" : ", ") + (param.left_out() ? "Arg()" : "as_arg(" + param.name + ")");
    const std::string called = function.results == 1  ? "call"
                               : function.results < 0 ? "call_multi"
                                                      : "call_multi<" + std::to_string(function.results) + ">";
    return result_of(function) + " " + name + "(" + signature(function, true, false) +
           ") {\n    return whittle::" + called + "(" + builder_of(function) + ", \"aten." + function.name + "." +
           function.overload + "\", {" + args + "});\n}\n";
}

std::string read(const std::string& path) {
    std::ifstream in(path);
    if (!in) fail(path + ": cannot be read");
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

/// A file that is what it should be keeps its time: what includes it is not compiled again.
void write(const std::string& path, const std::string& text) {
    if (std::ifstream(path) && read(path) == text) return;
    std::ofstream out(path);
    if (!(out << text).flush()) fail(path + ": cannot be written");
}

void run(const std::string& folder, const Texts& paths) {
    std::map<std::string, std::string> macros;
    Texts sources;
    for (const std::string& path : paths) {
        sources.push_back(read(path));
        macros.merge(macros_of(sources.back()));
    }
    std::set<std::string> schemas, taken;
    for (const std::string& source : sources) add_schemas(source, macros, schemas);
    std::ostringstream header, definitions;
    const std::string note = "// Made of the schemas of lib/ops/aten by make_calls.\n";
    header << note << "#pragma once\n\n#include \"ops/core/value.h\"\n\nnamespace whittle::aten {\n\n";
    definitions << note << "#include \"ops/aten/calls.h\"\n\nnamespace whittle::aten {\n\n";
    for (const std::string& schema : schemas) {
        Function function;
        if (!parse(schema, function)) continue;
        std::string name = function.name;
        if (!taken.insert(name + "(" + signature(function, false, false)).second) name += "_" + function.overload;
        header << "/// " << schema << "\n"
               << result_of(function) << " " << name << "(" << signature(function, true, true) << ");\n";
        definitions << definition(function, name) << "\n";
    }
    header << "\n}  // namespace whittle::aten\n";
    definitions << "}  // namespace whittle::aten\n";
    write(folder + "/calls.h", header.str());
    write(folder + "/calls.cpp", definitions.str());
}

}  // namespace

int main(int argc, char** argv) {
    try {
        if (argc < 3) fail("expected make_calls FOLDER SOURCE…");
        run(argv[1], {argv + 2, argv + argc});
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "make_calls: error: " << error.what() << "\n";
        return 1;
    }
}
