#include "frontends/pt2/load.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/words.h"
#include "frontends/pt2/archive.h"
#include "frontends/pt2/codes.h"
#include "frontends/pt2/data_sizes.h"
#include "frontends/pt2/importer.h"
#include "frontends/pt2/pickle.h"
#include "graph/dynamic_dims.h"
#include "graph/placement.h"

namespace whittle::pt2 {
namespace {

constexpr std::int64_t kOldestMajor = 7, kNewestMajor = 8, kNewestMinor = 20;  // PyTorch 2.5 to 2.13
constexpr const char* kFlatProgram = "serialized_exported_program.json";

/// Where things are in one archive.
struct Layout {
    std::string root;                      ///< "model/": the name at the time of saving, not that of the file
    std::string program;                   ///< the entry that holds the graph
    std::string model;                     ///< "model" of models/model.json
    std::vector<std::string> models = {};  ///< all of the archive, of which `model` is the wanted one
};

/// Code that a compiler made of a program, in archives that may hold nothing else: "an AOTInductor package".
std::string compiled_code(const Archive& archive) {
    constexpr std::pair<const char*, const char*> kFolders[] = {{"data/aotinductor/", "an AOTInductor package"},
                                                                {"data/executorch/", "an ExecuTorch package"}};
    for (const std::string& entry : archive.entries())
        for (const auto& [folder, package] : kFolders)
            if (entry.find(folder) != entry.npos) return package;
    return {};
}

/// `wanted`: of several models; empty: the first.
Layout layout_of(const Archive& archive, const std::string& wanted) {
    Layout layout;
    for (const std::string& entry : archive.entries())
        if (entry.ends_with("/archive_format")) layout.root = entry.substr(0, entry.rfind('/') + 1);
    if (archive.has(kFlatProgram)) return {.root = "", .program = kFlatProgram, .model = "", .models = {""}};
    const std::string code = compiled_code(archive);
    const auto refuse_code = [&] {
        throw Error({archive.file(), {}}, "the file is " + code + ", which holds compiled code and no graph",
                    "save the exported program with torch.export.save, or package both: "
                    "package_pt2(FILE, exported_programs=…, aoti_files=…)");
    };
    if (layout.root.empty() && !code.empty()) refuse_code();
    if (layout.root.empty())
        throw Error({archive.file(), {}}, "found a zip archive without an exported program",
                    "if the file is a checkpoint or a TorchScript module, load it in Python, and write the model with "
                    "torch.export.export and torch.export.save");
    const std::string models = layout.root + "models/";
    for (const std::string& entry : archive.entries()) {
        if (entry.starts_with(models) && entry.ends_with(".json"))
            layout.models.push_back(entry.substr(models.size(), entry.size() - models.size() - 5));
    }
    std::ranges::sort(layout.models);
    const auto chosen = wanted.empty() ? layout.models.begin() : std::ranges::find(layout.models, wanted);
    if (chosen != layout.models.end()) {
        layout.model = *chosen;
        layout.program = models + *chosen + ".json";
    }
    if (layout.program.empty() && !layout.models.empty())
        throw Error({archive.file(), {}}, "found no model '" + wanted + "', expected one of " + join(layout.models));
    if (layout.program.empty() && !code.empty()) refuse_code();
    if (layout.program.empty())
        throw Error({archive.file(), {}},
                    "found no file models/NAME.json in the archive, expected at least one such file");
    if (archive.has(layout.root + "archive_version") && archive.text(layout.root + "archive_version") != "0")
        throw Error({archive.file(), layout.root + "archive_version"},
                    "found '" + archive.text(layout.root + "archive_version") + "', expected '0'");
    if (archive.has(layout.root + "byteorder") && archive.text(layout.root + "byteorder") != "little")
        throw Error({archive.file(), layout.root + "byteorder"}, "found a big-endian file, expected byte order little");
    return layout;
}

Json parse_json(const Archive& archive, const std::string& entry) {
    return Document(archive.text(entry), archive.file() + ": " + entry).root();
}

void check_version(const Archive& archive, const Layout& layout, const Json& program) {
    const Json& version = program.at("schema_version");
    const auto major = version.is_number() ? version.get<std::int64_t>() : version.at("major").get<std::int64_t>();
    if (major < kOldestMajor || major > kNewestMajor)
        throw Error({archive.file(), layout.program + ": schema_version"},
                    "found major version " + std::to_string(major) + ", expected 7 (PyTorch 2.5) or 8");
    const std::int64_t minor = version.is_number() ? 0 : version.value("minor", std::int64_t{0});
    if (major == kNewestMajor && minor > kNewestMinor)
        log_warning(LogChannel::capture, archive.file() + ": schema_version " + std::to_string(major) + "." +
                                             std::to_string(minor) + " is newer than the supported " +
                                             std::to_string(kNewestMajor) + "." + std::to_string(kNewestMinor) +
                                             ": additions of the newer version are ignored");
}

/// Reads the program that an archive holds.
class ProgramReader {
  public:
    ProgramReader(const Archive& archive, const LoadOptions& options)
        : archive_(archive), options_(options), layout_(layout_of(archive, options.model)) {
        if (options.model.empty() && layout_.models.size() > 1)
            throw Error({archive.file(), {}}, "found several models: " + join(layout_.models) + ", expected one model");
        symbols_.sizes = options.dims;
    }

    LoadedProgram read() {
        const Json program = parse_json(archive_, layout_.program);
        try {
            check_version(archive_, layout_, program);
            if (layout_.model.empty()) {
                read_pickled("serialized_state_dict.pt");
                read_pickled("serialized_constants.pt");
            } else {
                read_weights("data/weights/", "_weights_config.json");
                read_weights("data/constants/", "_constants_config.json");
            }
            const Json& module = program.at("graph_module");
            decide_symbols(module, program.value("range_constraints", Json::object()));
            add_inputs(module);
            importer_.add_nodes(module.at("graph"));
            loaded_.data_sizes = data_sizes_.decided();
            add_outputs(module);
        } catch (const Error& error) {
            if (!error.where().file.empty()) throw;
            const std::string& at = error.where().position;
            throw Error({archive_.file(), layout_.program + (at.empty() ? "" : ": " + at)}, error.message(),
                        error.hint());
        } catch (const Json::exception& error) {
            throw Error({archive_.file(), layout_.program}, error.what());
        }
        return std::move(loaded_);
    }

  private:
    void read_weights(const std::string& folder, const std::string& suffix) {
        const std::string at = layout_.root + folder, config = at + layout_.model + suffix;
        if (!archive_.has(config)) return read_pickled(at + layout_.model + ".pt");
        const Json entries = parse_json(archive_, config);
        std::map<std::string, std::shared_ptr<Storage>> payloads;  // several tensors may view one
        for (const auto& [name, entry] : entries.at("config").items()) {
            try {
                weights_[name] = weight(at, entry, payloads);
                if (const ValueMeta meta = meta_of(entry.at("tensor_meta"), {}); is_opaque(meta)) opaque_[name] = meta;
            } catch (Error& error) {
                if (error.where().file.empty()) error.locate({archive_.file(), config + ": " + name});
                throw;
            } catch (const Json::exception& error) {
                throw Error({archive_.file(), config + ": " + name}, error.what());
            }
        }
    }

    /// As PyTorch before 2.9 wrote them; an empty entry stands for none.
    void read_pickled(const std::string& entry) {
        if (!archive_.has(entry) || archive_.bytes(entry)->bytes().empty()) return;
        weights_.merge(read_state_dict(Archive(archive_, entry)));
    }

    Tensor weight(const std::string& folder, const Json& entry,
                  std::map<std::string, std::shared_ptr<Storage>>& payloads) const {
        if (entry.value("use_pickle", false))
            throw Error("found a weight of a subclass of Tensor, stored as pickled code, which Whittle never runs",
                        "export the model with plain tensors");
        const ValueMeta meta = meta_of(entry.at("tensor_meta"), {});
        const auto offset = size_of(entry.at("tensor_meta").at("storage_offset"), {});
        const auto path = entry.at("path_name").get<std::string>();
        std::shared_ptr<Storage>& payload = payloads[path];
        if (!payload) payload = archive_.bytes(folder + path);
        if (is_opaque(meta))  // as the file has it
            return Tensor(payload, DType::u8, {static_cast<std::int64_t>(payload->bytes().size())}, {1});
        if (payload->bytes().empty()) return Tensor(meta.dtype, meta.sizes);  // nothing stored: zeros
        return Tensor(payload, meta.dtype, meta.sizes, meta.strides, offset);
    }

    const Json& tensor_meta(const Json& module, const std::string& name) const {
        return module.at("graph").at("tensor_values").at(name);
    }

    /// The inputs that the user gives, in order: their names in the graph.
    static std::vector<std::string> user_tensors(const Json& module) {
        std::vector<std::string> names;
        for (const Json& spec : module.at("signature").at("input_specs"))
            if (spec.contains("user_input") && spec.at("user_input").at("arg").contains("as_tensor"))
                names.push_back(spec.at("user_input").at("arg").at("as_tensor").at("name"));
        return names;
    }

    const Sizes* given_sizes(const std::string& name, std::size_t position) const {
        if (const auto found = options_.input_sizes.find(name); found != options_.input_sizes.end())
            return &found->second;
        return position < options_.sizes.size() ? &options_.sizes[position] : nullptr;
    }

    /// A size of an input that is an expression, "s77" or "2*s77".
    struct DynamicSize {
        std::string expression;
        std::optional<std::int64_t> value = {};  ///< that was given, or in the file's example
    };

    /// Those of sizes and numbers that the user gives, and the file's examples.
    void collect_sizes(const Json& module, std::vector<DynamicSize>& given, std::vector<DynamicSize>& examples) const {
        const auto collect = [&](const Json& size, std::optional<std::int64_t> value) {
            if (!size.contains("as_expr") || size.at("as_expr").is_null()) return;
            const Json& expression = size.at("as_expr");
            const auto text = expression.at("expr_str").get<std::string>();
            if (value) given.push_back({text, value});
            const auto hint = expression.find("hint");
            const bool has_hint = hint != expression.end() && hint->is_object() && hint->contains("as_int");
            examples.push_back({text, has_hint ? std::optional(hint->at("as_int").get<std::int64_t>()) : std::nullopt});
        };
        const std::vector<std::string> names = user_tensors(module);
        for (std::size_t i = 0; i < names.size(); ++i) {
            const Json& sizes = tensor_meta(module, names[i]).at("sizes");
            const Sizes* const is = given_sizes(names[i], i);
            for (std::size_t d = 0; d < sizes.size(); ++d)
                collect(sizes[d], is && d < is->size() ? std::optional((*is)[d]) : std::nullopt);
        }
        const Json numbers = module.at("graph").value("sym_int_values", Json::object());
        for (const Json& spec : module.at("signature").at("input_specs"))
            if (const std::string name = number_input(spec); numbers.contains(name)) collect(numbers.at(name), {});
    }

    /// What given inputs decide, then what was asked for by name, then the file's examples.
    void decide_symbols(const Json& module, const Json& ranges) {
        std::vector<DynamicSize> given, examples;
        collect_sizes(module, given, examples);
        std::set<std::string> known;
        for (const DynamicSize& example : examples) known.merge(undecided_symbols(example.expression, {}));
        // A size may decide a symbol once another one has decided the rest: 's0*s1' behind 's1'.
        const auto decide = [&](const std::vector<DynamicSize>& sizes) {
            std::map<std::string, std::int64_t> decided;
            std::size_t before = 0;
            do {
                before = decided.size();
                for (const DynamicSize& size : sizes) {
                    if (!size.value) continue;
                    const auto found = solved(size.expression, *size.value, symbols_.sizes);
                    if (found) decided.insert(*found), symbols_.sizes.insert(*found);
                }
            } while (decided.size() > before);
            return decided;
        };
        decide(given);
        for (const auto& [symbol, size] : decide(examples))
            loaded_.assumed_dims.push_back(symbol + "=" + std::to_string(size));
        for (const auto& [expression, range] : ranges.items()) {
            if (symbol_of(expression)) known.insert(expression);
            check_range(expression, range);
        }
        check_dims(archive_.file(), options_.dims, std::vector<std::string>(known.begin(), known.end()));
    }

    void check_range(const std::string& expression, const Json& range) const {
        const auto found = evaluate(expression, symbols_.sizes);
        if (!found) return;
        const auto bound = [&](const char* which) {
            const auto member = range.find(which);
            return member == range.end() || !member->is_number_integer() ? std::optional<std::int64_t>()
                                                                         : member->get<std::int64_t>();
        };
        const auto least = bound("min_val"), most = bound("max_val");
        if ((!least || *found >= *least) && (!most || *found <= *most)) return;
        throw Error("the dynamic dimension " + expression + " is " + std::to_string(*found) +
                        ", expected a size in the exported range: " + (least ? std::to_string(*least) : "0") + " to " +
                        (most ? std::to_string(*most) : "any larger size"),
                    "choose a size in this range, or export the model with another range");
    }

    void add_inputs(const Json& module) {
        // Placeholders come first.
        for (const std::string& name : user_tensors(module)) {
            try {
                const Json& described = tensor_meta(module, name);
                ValueMeta meta = meta_of(described, symbols_.sizes);
                if (const auto offset = described.find("storage_offset"); offset != described.end())
                    meta.storage_offset = size_of(*offset, symbols_.sizes);
                importer_.bind(name, loaded_.graph.placeholder(name, std::move(meta)));
            } catch (Error& error) {
                if (error.where().position.empty()) error.locate({{}, "tensor " + name});
                throw;
            }
        }
        for (const Json& spec : module.at("signature").at("input_specs")) add_input(module, spec);
    }

    /// The name of an input that is a number the program leaves open; empty for any other.
    static std::string number_input(const Json& spec) {
        const auto input = spec.find("user_input");
        if (input == spec.end() || input->is_null()) return {};
        const auto [kind, value] = chosen(input->at("arg"));
        return kind.starts_with("as_sym_") && value->is_object() ? value->value("as_name", "") : "";
    }

    void add_input(const Json& module, const Json& spec) {
        if (const std::string number = number_input(spec); !number.empty())
            return importer_.bind(number, stated_number(module.at("graph"), number, symbols_.sizes));
        for (const auto& [kind, input] : spec.items()) {
            if (input.is_null() || kind == "user_input") continue;  // constants are written where they are used
            if (kind == "token") continue;                          // orders effects, of which a graph has none
            if (kind == "custom_obj") {
                importer_.bind(input.at("arg").at("name"), Arg(input.at("arg").at("class_fqn").get<std::string>()));
                continue;
            }
            if (kind == "constant_input") {
                importer_.bind(input.at("name"), importer_.argument(input.at("value")));
                continue;
            }
            const char* key = kind == "parameter"         ? "parameter_name"
                              : kind == "buffer"          ? "buffer_name"
                              : kind == "tensor_constant" ? "tensor_constant_name"
                                                          : nullptr;
            if (!key) throw Error("found an input of kind " + kind + ", which Whittle does not support");
            const auto name = input.at(key).get<std::string>();
            const auto weight = weights_.find(name);
            if (weight == weights_.end())
                throw Error("found no data for the " + kind + " '" + name + "' in the archive");
            const NodeRef read = loaded_.graph.get_attr(name, weight->second);
            if (const auto meta = opaque_.find(name); meta != opaque_.end())
                loaded_.graph.nodes[static_cast<std::size_t>(read.id)].results = {meta->second};
            importer_.bind(input.at("arg").at("name"), read);
        }
    }

    void add_outputs(const Json& module) {
        std::vector<NodeRef> results, written;
        for (const Json& spec : module.at("signature").at("output_specs")) {
            for (const auto& [kind, output] : spec.items()) {
                if (output.is_null()) continue;
                if (kind == "token") continue;
                const bool mutation = kind.ends_with("_mutation");
                const Json& arg = output.at("arg");
                const Arg value = importer_.argument(mutation ? Json{{"as_tensor", arg}} : arg);
                if (const NodeRef* result = value.node()) {
                    (mutation ? written : results).push_back(*result);
                    if (mutation) loaded_.updates.push_back(written_name(output));
                }
            }
        }
        loaded_.user_outputs = results.size();
        results.insert(results.end(), written.begin(), written.end());
        loaded_.graph.output(results);
    }

    /// Of the buffer, parameter or input that a mutation writes.
    static std::string written_name(const Json& mutation) {
        for (const auto& [key, value] : mutation.items())
            if (key.ends_with("_name")) return value.get<std::string>();
        return {};
    }

    const Archive& archive_;
    const LoadOptions& options_;
    Layout layout_;
    Symbols symbols_;
    std::map<std::string, Tensor> weights_;
    std::map<std::string, ValueMeta> opaque_;  ///< of weights that are bytes
    LoadedProgram loaded_;
    DataSizes data_sizes_{options_.values, symbols_.sizes};
    Importer importer_{loaded_.graph, symbols_, &data_sizes_};
};

}  // namespace

std::vector<std::string> pt2_models(const std::filesystem::path& path) { return layout_of(Archive(path), "").models; }

LoadedProgram load_pt2(const std::filesystem::path& path, const LoadOptions& options) {
    const Archive archive(path);
    LoadedProgram loaded = ProgramReader(archive, options).read();
    loaded.graph.name = options.model.empty() ? "main" : options.model;
    return loaded;
}

}  // namespace whittle::pt2
