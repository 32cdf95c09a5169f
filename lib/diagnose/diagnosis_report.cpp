#include "diagnose/diagnosis_report.h"

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

const Culprit* culprit_of(const DiagnosisReport& report) {
    if (!report.minimized || !report.minimized->failure || !report.minimized->failure->culprit) return nullptr;
    return &*report.minimized->failure->culprit;
}

/// At which the minimized graph fails: as measured of it, else as the model does.
Rate rate_of(const DiagnosisReport& report) {
    const bool measured = report.minimized && report.minimized->failure->signature.rate.flaky();
    return measured ? report.minimized->failure->signature.rate : report.components.rate;
}

/// What fails: the suspect, or a component before it.
Suspect failing_suspect(const DiagnosisReport& report) {
    Suspect failing = report.suspect;
    const Tried& last = report.components.last();
    if (!last.suspect) failing.spec = last.backend, failing.options = last.options;
    return failing;
}

/// explain MODEL --backend B …: its exit status says whether it fails.
std::vector<std::string> question(const DiagnosisReport& report, const std::filesystem::path& model,
                                  const std::string& backend, const BackendOptions& options) {
    std::vector<std::string> words = program_words("explain", {model.string(), "--backend", backend});
    append(words, option_words(options));
    append(words, report.accuracy);
    append(words, op_library_words());
    if (model == report.model) append(words, report.inputs);
    const Rate rate = model == report.model ? report.components.rate : rate_of(report);
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

std::string since_text(const DiagnosisReport& report) {
    const ComponentVerdict& components = report.components;
    std::vector<std::string> good;
    for (std::size_t i = 0; i + 1 < components.tried.size(); ++i)
        if (components.tried[i].undecided.empty()) good.push_back(components.tried[i].backend);
    std::string text = components.last().backend;
    if (!good.empty()) text += " (" + join(good) + (good.size() == 1 ? " is" : " are") + " right)";
    if (components.rate.failed == 0) text += "; " + report.suspect.spec.text() + " itself is right";
    return text;
}

/// What is left of the graph, where that is little: ", on onnx.Relu".
std::string on_ops(const DiagnosisReport& report) {
    constexpr std::size_t kFew = 3;
    std::vector<std::string> ops;
    if (report.minimized)
        for (const NodeId id : report.minimized->calls()) {
            const std::string& op = report.minimized->node({id}).target;
            add_once(ops, op);
        }
    return ops.empty() || ops.size() > kFew ? "" : ", on " + join(ops);
}

std::string who_text(const DiagnosisReport& report) {
    const Tried& last = report.components.last();
    const Culprit* const culprit = culprit_of(report);
    if (!culprit) return std::string(last.culprit()) + on_ops(report);
    return culprit->text() + (culprit->component == "gradient" && last.backend == "libtorch"
                                  ? " (or the gradient rule of LibTorch)"
                                  : "");
}

std::string sure_text(const DiagnosisReport& report) {
    const ComponentVerdict& components = report.components;
    const Rate& rate = components.last().rate;
    const std::string runs = std::to_string(rate.runs) + " runs";
    std::string text = rate.runs == 1 ? "fails in the only run"
                       : rate.flaky() ? "fails in " + std::to_string(rate.failed) + " of " + runs
                                      : "fails in each of " + runs;
    if (components.rate.flaky())
        text += "; every backend that is judged right passed at least " + plural(components.repeat, "time") +
                ", so only 1 of 1000 diagnoses misses a failure";
    if (report.minimized) {
        const std::size_t left = report.minimized->calls().size();
        text += "; " + std::to_string(left) + " of " + plural(report.ops, "op") +
                (left == 1 ? " reproduces" : " reproduce") + " the failure";
    }
    if (report.switched) text += "; with the culprit switched off, the graph passes";
    return text;
}

/// `backend` is the one of that name, null where it is not there any more. `culprit` may be null.
std::string tracker_of(const std::string& name, Backend* backend, const Culprit* culprit) {
    const BackendSpec spec(name);
    if (const auto* wrapped = std::get_if<WrappedBackend>(&spec.value())) {
        const auto* const wrapper = dynamic_cast<const Wrapper*>(backend);
        return tracker_of(wrapped->inner, wrapper ? &wrapper->inner() : nullptr, culprit);
    }
    Tracked* const tracked = backend ? offered<Tracked>(*backend) : nullptr;
    const std::optional<Tracker> tracker = tracked ? tracked->tracker() : std::nullopt;
    if (const BuiltInBackend* known = find_built_in(name); !tracker && known && !known->tracker.empty())
        return std::string(known->tracker);
    if (!tracker) return "the maintainers of " + name;
    const auto races = [](const std::string& directive) { return directive.ends_with("allow_race_conditions()"); };
    const bool ours =
        culprit && (culprit->before_compiler() ||
                    std::ranges::any_of(culprit->together, races));  // what is lost then is no bug of the compiler's
    if (ours) return std::string(kOwnTracker);
    const std::string theirs =
        tracker->project + "'s issue tracker" + (tracker->url.empty() ? "" : " at " + tracker->url);
    // The repro's program is the same translation of the kernel: nothing tells it from the compiler.
    const bool translated = culprit && culprit->component == "compiler" && offered<program::KernelPrograms>(*backend);
    return theirs +
           (translated
                ? "; if the program does not match the kernel, report the failure to Whittle's issue tracker instead"
                : "");
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
std::string tracker_of(const DiagnosisReport& report, Backend& backend) {
    Graph failing = report.minimized.value_or(Graph());
    if (!failing.failure) describe(report.suspect, failing.failure.emplace());
    const BuiltInBackend& row = *report.components.last().component;
    return row.name.empty() || !only_library(failing).empty() ? where_to_report(failing, &backend)
                                                              : std::string(row.tracker);
}

std::string send_text(const DiagnosisReport& report) {
    if (report.repro)
        return report.repro->string() + " to " + report.send_to +
               (report.verified ? " (verified: the program was built and run, and reproduces the failure)"
                                : " (NOT verified: the program does not reproduce the failure here)");
    if (report.minimized) return report.minimized_file.string() + " to " + report.send_to;
    return "the model to " + report.send_to;
}

/// The commands of a failing directive or pass, which options switch off and on; false where none was found.
bool find_switch(DiagnosisReport& report, Backend& backend) {
    const Culprit* const culprit = culprit_of(report);
    if (!culprit) return false;
    const Failure& failure = *report.minimized->failure;
    const auto asked = [&](const BackendOptions& options) {
        return question(report, report.minimized_file, failure.backend, options);
    };
    if (const Switchable* const parts = offered<Switchable>(backend); parts && !culprit->directive.empty()) {
        report.last_good = asked(parts->without(failure.options, {culprit->directive}));
        report.first_bad = asked(failure.options);
    } else if (culprit->directive.empty() && culprit->together.size() == 2) {
        report.last_good = asked(with(failure.options, culprit->together[0]));
        report.first_bad = asked(with(failure.options, culprit->together[1]));
    } else {
        return false;
    }
    return report.switched = true;
}

/// Fills the send_to and the commands. `backend` is the failing one.
void address(DiagnosisReport& report, Backend& backend) {
    report.send_to = tracker_of(report, backend);
    if (find_switch(report, backend)) return;
    const ComponentVerdict& components = report.components;
    if (offered<Reference>(backend)) {  // explain takes it for right
        if (report.record)
            report.first_bad = program_words("replay", {report.model, "--backend", components.last().backend});
        return;
    }
    const std::filesystem::path model = report.minimized ? report.minimized_file : std::filesystem::path(report.model);
    for (std::size_t i = components.tried.size() - 1; i-- > 0;)
        if (components.tried[i].undecided.empty() && components.tried[i].backend != kReferenceBackend) {
            report.last_good = question(report, model, components.tried[i].backend, components.tried[i].options);
            break;
        }
    const Suspect failing = failing_suspect(report);
    report.first_bad = question(report, model, failing.spec.text(), failing.options);
}

/// The suspect without whom the report names, where that can be switched off.
std::optional<Suspect> remaining_suspect(const DiagnosisReport& report) {
    const Culprit* const culprit = culprit_of(report);
    if (!culprit) return std::nullopt;
    const std::unique_ptr<Backend> backend = find_backend(report.suspect.spec);
    const Switchable* const parts = offered<Switchable>(*backend);
    const auto options = parts ? without_culprit(*culprit, *parts, report.suspect.options) : std::nullopt;
    if (!options || *options == report.suspect.options) return std::nullopt;
    Suspect rest = report.suspect;
    rest.options = *options;
    return rest;
}

}  // namespace

std::string where_to_report(const Graph& failing, Backend* backend) {
    if (const std::string library = only_library(failing); !library.empty()) return "the maintainers of " + library;
    const Failure& failure = *failing.failure;
    const Culprit* const culprit = failure.culprit ? &*failure.culprit : nullptr;
    const auto other = backend ? other_compiler(failure, *backend) : std::nullopt;
    return other ? tracker_of(other->backend, find_backend(other->backend).get(), culprit)
                 : tracker_of(failure.backend, backend, culprit);
}

std::vector<std::string> last_good_command(const Graph& minimized, const std::filesystem::path& file,
                                           Backend& backend) {
    if (!minimized.failure || !minimized.failure->culprit || minimized.failure->culprit->directive.empty()) return {};
    DiagnosisReport report{.minimized = minimized, .minimized_file = file};
    return find_switch(report, backend) ? report.last_good : std::vector<std::string>();
}

void write_reports(const LoadedFrame& frame, DiagnosisReport report, const ReportSteps& steps) {
    for (std::size_t number = 1;; ++number) {
        DiagnosisReport filled = report;
        steps.begin(filled, number);
        const Suspect failing = failing_suspect(filled);
        const std::unique_ptr<Backend> backend = find_backend(failing.spec);
        if (offered<Reference>(*backend))  // it has no failures of its own that could be followed
            filled.no_repro = "the reference backend itself differs from the recorded results";
        else
            steps.follow(filled, failing, number);
        address(filled, *backend);
        steps.send(filled);
        const std::optional<Suspect> rest = remaining_suspect(filled);
        if (!rest) return;
        report.suspect = *rest;
        report.components = first_failing_component(frame, report.suspect);
        if (!report.components.fails()) return;
    }
}

std::string to_text(const DiagnosisReport& report) {
    const auto line = [](std::string_view label, const std::string& what) {
        return std::string(label) + std::string(12 - label.size(), ' ') + what + "\n";
    };
    const Tried& last = report.components.last();
    std::string text = line("failure:", as_line(last.failure, 300));
    text += line("fails with:", since_text(report));
    text += line("culprit:", who_text(report));
    if (culprit_of(report))
        for (const std::string& note : culprit_notes(*report.minimized->failure)) text += line("", note);
    text += line("evidence:", sure_text(report));
    if (!report.last_good.empty()) text += line("last good:", shell_quote(report.last_good));
    if (!report.first_bad.empty()) text += line("first bad:", shell_quote(report.first_bad));
    for (const std::filesystem::path& file : report.drifted)
        text += line("also seen:", "another failure, in " + file.string());
    if (!report.no_repro.empty()) text += line("no repro:", report.no_repro);
    if (report.minimized) text += line("written:", report.minimized_file.string());
    if (report.repro) text += line(report.minimized ? "" : "written:", report.repro->string());
    return text + line("send:", send_text(report));
}

nlohmann::json to_json(const DiagnosisReport& report) {
    nlohmann::json json = to_json(report.components);
    json["model"] = report.model;
    json["backend"] = report.suspect.spec.text();
    if (!report.components.fails()) return json;
    nlohmann::json& culprit = json["culprit"];
    culprit = {{"component", report.components.last().culprit()}};
    if (const Culprit* const found = culprit_of(report)) {
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
    if (!report.last_good.empty()) culprit["last_good"] = shell_quote(report.last_good);
    if (!report.first_bad.empty()) culprit["first_bad"] = shell_quote(report.first_bad);
    if (report.minimized) json["minimized"] = report.minimized_file.string();
    for (const std::filesystem::path& file : report.drifted) json["drifted"].push_back(file.string());
    if (report.repro) json["repro"] = {{"file", report.repro->string()}, {"verified", report.verified}};
    if (!report.no_repro.empty()) json["no_repro"] = report.no_repro;
    json["what"] = report.components.last().failure;
    json["since"] = since_text(report);
    json["who"] = who_text(report);
    json["how_sure"] = sure_text(report);
    if (report.minimized && rate_of(report).flaky()) json["minimized_rate"] = rate_of(report).value();
    json["send"] = send_text(report);
    return json;
}

}  // namespace whittle::diagnose
