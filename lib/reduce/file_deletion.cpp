#include <algorithm>

#include "base/files.h"
#include "frontends/onnx/file_parts.h"
#include "reduce/deletion.h"
#include "tensor/random.h"

namespace whittle::reduce {
namespace {

/// A part of a file, on disk as long as anybody knows it.
struct WrittenPart {
    TempDir folder{"whittle-part"};
    OnnxFile file;
};

class NodeDeletion final : public Deletion {
  public:
    explicit NodeDeletion(const LoadedFrame& frame)
        : name_(frame.name),
          whole_(std::make_shared<OnnxFile>(frame.onnx ? *frame.onnx : OnnxFile{.model = frame.file})),
          parts_(frame.file) {}

    int count() const override { return parts_.count(); }
    std::vector<std::vector<int>> neighbours() const override { return parts_.neighbours(); }
    Set legal(const Set& wish) const override { return parts_.legal(wish); }

    /// The whole is the file as it was given.
    Case candidate(const Set& kept) const override {
        Case made{.graph = {.name = name_}, .file = whole_};
        for (const int node : kept) made.nodes.push_back(parts_.text(node));
        if (kept.size() == static_cast<std::size_t>(count())) return made;
        const auto part = std::make_shared<WrittenPart>();
        part->file = parts_.write(kept, part->folder.path() / "part.onnx");
        give_values(part->file);
        made.file = {part, &part->file};
        return made;
    }

  private:
    /// Those of the whole file for what it is given, random ones for the rest; fewer where an input is no dense tensor.
    void give_values(OnnxFile& file) const {
        Random random(0);
        for (const OnnxFile::Value& input : file.inputs) {
            const auto given = std::ranges::find(whole_->inputs, input.name, &OnnxFile::Value::name);
            if (given != whole_->inputs.end())
                file.values.push_back(whole_->values[static_cast<std::size_t>(given - whole_->inputs.begin())]);
            else if (input.meta)
                file.values.push_back(random_tensor(input.meta->dtype, input.meta->sizes, random));
            else
                return;
        }
    }

    std::string name_;
    std::shared_ptr<const OnnxFile> whole_;
    FileParts parts_;
};

}  // namespace

std::unique_ptr<Deletion> deletion_of_nodes(const LoadedFrame& frame) { return std::make_unique<NodeDeletion>(frame); }

}  // namespace whittle::reduce
