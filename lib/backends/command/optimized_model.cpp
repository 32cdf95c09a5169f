#include "backends/command/optimized_model.h"

#include <algorithm>
#include <map>
#include <optional>

#include "frontends/onnx/file_parts.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

class FileOfParts final : public OptimizedModel {
  public:
    FileOfParts(const Graph& graph, const ModelNames& names, const fs::path& file, fs::path folder)
        : nodes_(file), folder_(std::move(folder)) {
        for (const auto& [name, value] : names.values) {
            const ValueMeta& meta = graph.node({value.node}).results.at(static_cast<std::size_t>(value.index));
            if (meta.placement) continue;  // no backend computes with it
            nodes_.know(name, meta);
            made_.emplace(name, value);
        }
        const std::vector<NodeId> placeholders = graph.placeholders();
        for (std::size_t i = 0; i < placeholders.size(); ++i) given_[names.inputs.at(i)] = {placeholders[i], 0};
    }

    std::vector<std::vector<int>> groups(const Values& but) const override { return nodes_.between(made(but)); }

    OptimizedPart part(const std::vector<int>& group, const Values& but) override {
        OptimizedPart part;
        for (const int node : group)
            if (const std::string op = nodes_.op(node); std::ranges::find(part.ops, op) == part.ops.end())
                part.ops.push_back(op);
        part.file = nodes_.write(group, folder_ / ("part-" + std::to_string(++written_) + ".onnx"), made(but));
        const auto inputs = values_of(part.file.inputs), outputs = values_of(part.file.outputs);
        if (!inputs || !outputs || outputs->empty())
            part.problem =
                "this part of the optimized model has inputs or outputs that the original model does not have";
        else
            part.inputs = *inputs, part.outputs = *outputs;
        return part;
    }

  private:
    FileParts::Values made(const Values& but) const {
        return [&](const std::string& name) {
            const auto value = made_.find(name);
            return value != made_.end() && !but.contains(value->second);
        };
    }

    std::optional<std::vector<ValueRef>> values_of(const std::vector<OnnxFile::Value>& named) const {
        std::vector<ValueRef> found;
        for (const OnnxFile::Value& one : named) {
            const auto made = made_.find(one.name), given = given_.find(one.name);
            if (made == made_.end() && given == given_.end()) return std::nullopt;
            found.push_back(made == made_.end() ? given->second : made->second);
        }
        return found;
    }

    FileParts nodes_;
    const fs::path folder_;
    std::map<std::string, ValueRef> made_, given_;  ///< by calls; placeholders
    int written_ = 0;
};

}  // namespace

std::unique_ptr<OptimizedModel> optimized_model(const Graph& graph, const ModelNames& names, const fs::path& file,
                                                const fs::path& folder) {
    return std::make_unique<FileOfParts>(graph, names, file, folder);
}

}  // namespace whittle
