#include "diagnose/letter.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "backends/spec.h"
#include "base/command_words.h"
#include "base/error.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "compile/kernel_programs.h"
#include "diagnose/compiled.h"
#include "diagnose/diagnose.h"
#include "formats/json_text.h"
#include "graph/abilities.h"
#include "graph/backend_options.h"
#include "graph/value_ref.h"
#include "ops/core/custom.h"

namespace whittle::diagnose {
namespace {

const Culprit* culprit_of(const Letter& letter) {
    if (!letter.minimized || !letter.minimized->failure || !letter.minimized->failure->culprit) return nullptr;
    return &*letter.minimized->failure->culprit;
}

/// At which the minimized graph fails: as measured of it, else as the model does.
Rate rate_of(const Letter& letter) {
    const bool measured = letter.minimized && letter.minimized->failure->signature.rate.flaky();
    return measured ? letter.minimized->failure->signature.rate : letter.guilt.rate;
}

/// What fails: the suspect, or a component before it.
Suspect guilty_one(const Letter& letter) {
    Suspect guilty = letter.suspect;
    const Tried& who = letter.guilt.who();
    if (!who.suspect) guilty.spec = who.backend, guilty.options = who.options;
    return guilty;
}

/// explain MODEL --backend B …: its exit status says whether it fails.
std::vector<std::string> question(const Letter& letter, const std::filesystem::path& model, const std::string& backend,
                                  const BackendOptions& options) {
    std::vector<std::string> words = program_words("explain", {model.string(), "--backend", backend});
    const auto add = [&](const std::vector<std::string>& more) { words.insert(words.end(), more.begin(), more.end()); };
    add(option_words(options));
    add(letter.accuracy);
    add(op_library_words());
    if (model == letter.model) add(letter.inputs);
    const Rate rate = model == letter.model ? letter.guilt.rate : rate_of(letter);
    if (!rate.flaky()) return words;
    return {"sh", "-c",
            "for run in $(seq " + std::to_string(runs_until_passing(rate)) + "); do " + shell_quote(words) +
                " || exit; done"};
}

/// "pass-limit=fuse=1" as one more option.
BackendOptions with(BackendOptions options, const std::string& pair) {
    const std::size_t equals = pair.find('=');
    options[pair.substr(0, equals)] = pair.substr(equals + 1);
    return options;
}

std::string since_text(const Letter& letter) {
    const Guilt& guilt = letter.guilt;
    std::vector<std::string> good;
    for (std::size_t i = 0; i + 1 < guilt.tried.size(); ++i)
        if (guilt.tried[i].undecided.empty()) good.push_back(guilt.tried[i].backend);
    std::string text = guilt.who().backend;
    if (!good.empty()) text += " (" + join(good) + (good.size() == 1 ? " is" : " are") + " right)";
    if (guilt.rate.failed == 0) text += "; " + letter.suspect.spec.text() + " itself is right";
    return text;
}

/// What is left of the graph, where that is little: ", on onnx.Relu".
std::string on_ops(const Letter& letter) {
    constexpr std::size_t kFew = 3;
    std::vector<std::string> ops;
    if (letter.minimized)
        for (const NodeId id : letter.minimized->calls()) {
            const std::string& op = letter.minimized->node({id}).target;
            if (std::find(ops.begin(), ops.end(), op) == ops.end()) ops.push_back(op);
        }
    return ops.empty() || ops.size() > kFew ? "" : ", on " + join(ops);
}

std::string who_text(const Letter& letter) {
    const Tried& who = letter.guilt.who();
    const Culprit* const culprit = culprit_of(letter);
    if (!culprit) return std::string(who.who()) + on_ops(letter);
    return culprit->text() +
           (culprit->component == "gradient" && who.backend == "libtorch" ? " (or the gradient rule of LibTorch)" : "");
}

std::string sure_text(const Letter& letter) {
    const Guilt& guilt = letter.guilt;
    const Rate& rate = guilt.who().rate;
    const std::string runs = std::to_string(rate.runs) + " runs";
    std::string text = rate.runs == 1 ? "fails in the only run"
                       : rate.flaky() ? "fails in " + std::to_string(rate.failed) + " of " + runs
                                      : "fails in each of " + runs;
    if (guilt.rate.flaky())
        text += "; every backend that is right ran at least " + plural(guilt.repeat, "time") +
                " (1 of 1000 diagnoses misses a failure)";
    if (letter.minimized) {
        const std::size_t left = letter.minimized->calls().size();
        text += "; " + std::to_string(left) + " of " + plural(letter.ops, "op") +
                (left == 1 ? " reproduces" : " reproduce") + " the failure";
    }
    if (letter.switched) text += "; with the culprit switched off, the graph passes";
    return text;
}

/// `backend` is the one of that name, null where it is not there any more. `culprit` may be null.
std::string mender_of(const std::string& name, Backend* backend, const Culprit* culprit) {
    const BackendSpec spec(name);
    if (const auto* wrapped = std::get_if<WrappedBackend>(&spec.value())) {
        const auto* const wrapper = dynamic_cast<const Wrapper*>(backend);
        return mender_of(wrapped->inner, wrapper ? &wrapper->inner() : nullptr, culprit);
    }
    Tracked* const tracked = backend ? offered<Tracked>(*backend) : nullptr;
    const std::optional<Tracker> tracker = tracked ? tracked->tracker() : std::nullopt;
    if (const BuiltInBackend* known = find_built_in(name); !tracker && known && !known->tracker.empty())
        return std::string(known->tracker);
    if (!tracker) return "the maintainers of " + name;
    const auto races = [](const std::string& directive) { return directive.ends_with("allow_race_conditions()"); };
    const bool ours =
        culprit && (culprit->component == "lowering" || culprit->component == "pass" ||
                    std::ranges::any_of(culprit->together, races));  // what is lost then is no bug of the compiler's
    if (ours) return std::string(kOwnTracker);
    const std::string theirs =
        tracker->project + "'s issue tracker" + (tracker->url.empty() ? "" : " at " + tracker->url);
    // The repro's program is the same translation of the kernel: nothing tells it from the compiler.
    const bool translated = culprit && culprit->component == "compiler" && offered<program::KernelPrograms>(*backend);
    return theirs + (translated ? "; if the program does not match the kernel, to Whittle's issue tracker" : "");
}

/// The library whose ops are all that the graph consists of; empty: it has others, too.
std::string only_library(const Graph& graph) {
    std::string library;
    for (const NodeId id : graph.calls()) {
        const Node& call = graph.node({id});
        if (is_getitem(call)) continue;
        library = op_library(call.target);
        if (library.empty()) break;
    }
    return std::filesystem::path(library).filename().string();
}

/// The maintainers of what `backend` did wrong.
std::string mender_of(const Letter& letter, Backend& backend) {
    Graph failing = letter.minimized.value_or(Graph());
    if (!failing.failure) describe(letter.suspect, failing.failure.emplace());
    const BuiltInBackend& row = *letter.guilt.who().component;
    return row.name.empty() || !only_library(failing).empty() ? who_mends(failing, &backend) : std::string(row.tracker);
}

std::string send_text(const Letter& letter) {
    if (letter.repro)
        return letter.repro->string() + " to " + letter.mender +
               (letter.verified ? " (verified: the program was built and run, and reproduces the failure)"
                                : " (NOT verified: the program does not reproduce the failure here)");
    if (letter.minimized) return letter.minimized_file.string() + " to " + letter.mender;
    return "the model to " + letter.mender;
}

/// The commands of a guilty directive or pass, which options switch off and on; false where none was found.
bool find_switch(Letter& letter, Backend& backend) {
    const Culprit* const culprit = culprit_of(letter);
    if (!culprit) return false;
    const Failure& failure = *letter.minimized->failure;
    const auto asked = [&](const BackendOptions& options) {
        return question(letter, letter.minimized_file, failure.backend, options);
    };
    if (const Switchable* const parts = offered<Switchable>(backend); parts && !culprit->directive.empty()) {
        letter.last_good = asked(parts->without(failure.options, {culprit->directive}));
        letter.first_bad = asked(failure.options);
    } else if (culprit->directive.empty() && culprit->together.size() == 2) {
        letter.last_good = asked(with(failure.options, culprit->together[0]));
        letter.first_bad = asked(with(failure.options, culprit->together[1]));
    } else {
        return false;
    }
    return letter.switched = true;
}

/// Fills the mender and the commands. `backend` is the guilty one.
void address(Letter& letter, Backend& backend) {
    letter.mender = mender_of(letter, backend);
    if (find_switch(letter, backend)) return;
    const Guilt& guilt = letter.guilt;
    if (offered<Reference>(backend)) {  // explain takes it for right
        if (letter.record) letter.first_bad = program_words("replay", {letter.model, "--backend", guilt.who().backend});
        return;
    }
    const std::filesystem::path model = letter.minimized ? letter.minimized_file : std::filesystem::path(letter.model);
    for (std::size_t i = guilt.tried.size() - 1; i-- > 0;)
        if (guilt.tried[i].undecided.empty() && guilt.tried[i].backend != kReferenceBackend) {
            letter.last_good = question(letter, model, guilt.tried[i].backend, guilt.tried[i].options);
            break;
        }
    const Suspect guilty = guilty_one(letter);
    letter.first_bad = question(letter, model, guilty.spec.text(), guilty.options);
}

/// The suspect without whom the letter names, where that can be switched off.
std::optional<Suspect> remaining_suspect(const Letter& letter) {
    const Culprit* const culprit = culprit_of(letter);
    if (!culprit) return std::nullopt;
    const std::unique_ptr<Backend> backend = find_backend(letter.suspect.spec);
    const Switchable* const parts = offered<Switchable>(*backend);
    const auto options = parts ? without_culprit(*culprit, *parts, letter.suspect.options) : std::nullopt;
    if (!options || *options == letter.suspect.options) return std::nullopt;
    Suspect rest = letter.suspect;
    rest.options = *options;
    return rest;
}

}  // namespace

std::string who_mends(const Graph& failing, Backend* backend) {
    if (const std::string library = only_library(failing); !library.empty()) return "the maintainers of " + library;
    const Failure& failure = *failing.failure;
    const Culprit* const culprit = failure.culprit ? &*failure.culprit : nullptr;
    const auto other = backend ? other_compiler(failure, *backend) : std::nullopt;
    return other ? mender_of(other->backend, find_backend(other->backend).get(), culprit)
                 : mender_of(failure.backend, backend, culprit);
}

std::vector<std::string> last_good_command(const Graph& minimized, const std::filesystem::path& file,
                                           Backend& backend) {
    if (!minimized.failure || !minimized.failure->culprit || minimized.failure->culprit->directive.empty()) return {};
    Letter letter{.minimized = minimized, .minimized_file = file};
    return find_switch(letter, backend) ? letter.last_good : std::vector<std::string>();
}

void write_letters(const LoadedFrame& frame, Letter letter, const LetterSteps& steps) {
    for (std::size_t number = 1;; ++number) {
        Letter filled = letter;
        steps.begin(filled, number);
        const Suspect guilty = guilty_one(filled);
        const std::unique_ptr<Backend> backend = find_backend(guilty.spec);
        if (offered<Reference>(*backend))  // it has no failures of its own that could be followed
            filled.no_repro = "the reference backend itself differs from the recorded results";
        else
            steps.follow(filled, guilty, number);
        address(filled, *backend);
        steps.send(filled);
        const std::optional<Suspect> rest = remaining_suspect(filled);
        if (!rest) return;
        letter.suspect = *rest;
        letter.guilt = first_guilty(frame, letter.suspect);
        if (!letter.guilt.fails()) return;
    }
}

std::string to_text(const Letter& letter) {
    const auto line = [](std::string_view label, const std::string& what) {
        return std::string(label) + std::string(12 - label.size(), ' ') + what + "\n";
    };
    const Tried& who = letter.guilt.who();
    std::string text = line("failure:", as_line(who.failure, 300));
    text += line("fails with:", since_text(letter));
    text += line("culprit:", who_text(letter));
    if (culprit_of(letter))
        for (const std::string& note : culprit_notes(*letter.minimized->failure)) text += line("", note);
    text += line("evidence:", sure_text(letter));
    if (!letter.last_good.empty()) text += line("last good:", shell_quote(letter.last_good));
    if (!letter.first_bad.empty()) text += line("first bad:", shell_quote(letter.first_bad));
    for (const std::filesystem::path& file : letter.drifted)
        text += line("also seen:", "another failure, in " + file.string());
    if (!letter.no_repro.empty()) text += line("no repro:", letter.no_repro);
    return text + line("send:", send_text(letter));
}

nlohmann::json to_json(const Letter& letter) {
    nlohmann::json json = to_json(letter.guilt);
    json["model"] = letter.model;
    json["backend"] = letter.suspect.spec.text();
    if (!letter.guilt.fails()) return json;
    nlohmann::json& culprit = json["culprit"];
    culprit = {{"component", letter.guilt.who().who()}};
    if (const Culprit* const found = culprit_of(letter)) {
        culprit["component"] = found->component;
        culprit["text"] = found->text();
        if (!found->directive.empty())
            culprit["directive"] = found->directive;
        else if (const bool of_op = found->component == "lowering" || found->component == "gradient";
                 !found->op.empty())
            culprit[of_op ? "op" : "pass"] = found->op;
        if (!found->application.empty()) culprit["application"] = found->application;
        if (!found->partner.empty()) culprit["partner"] = found->partner;
    }
    if (!letter.last_good.empty()) culprit["last_good"] = shell_quote(letter.last_good);
    if (!letter.first_bad.empty()) culprit["first_bad"] = shell_quote(letter.first_bad);
    if (letter.minimized) json["minimized"] = letter.minimized_file.string();
    for (const std::filesystem::path& file : letter.drifted) json["drifted"].push_back(file.string());
    if (letter.repro) json["repro"] = {{"file", letter.repro->string()}, {"verified", letter.verified}};
    if (!letter.no_repro.empty()) json["no_repro"] = letter.no_repro;
    json["what"] = letter.guilt.who().failure;
    json["since"] = since_text(letter);
    json["who"] = who_text(letter);
    json["how_sure"] = sure_text(letter);
    if (letter.minimized && rate_of(letter).flaky()) json["minimized_rate"] = rate_of(letter).value();
    json["send"] = send_text(letter);
    return json;
}

}  // namespace whittle::diagnose
