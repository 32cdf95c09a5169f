"""Measures what the page of explain --html, explain diff and the watching of times cost, beside what they may.
  report.py PROGRAMS NODES [FILE]      run through scripts/bench report, which says more"""
import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "test", "report", "page"))
from chromium import Chromium, find  # noqa: E402

# name: (what it is, at most or at least, the bound, its unit)
BOUNDS = {
    "off_share": ("watched by nobody, of a run", "at most", 0.01, ""),
    "html_seconds": ("writing the page", "at most", 1.0, "s"),
    "html_bytes": ("size of the page", "at most", 10e6, "B"),
    "first_paint_seconds": ("first paint", "at most", 1.0, "s"),
    "frames_per_second": ("panning, frames a second", "at least", 50, ""),
    "diff_seconds": ("diff of two such graphs", "at most", 1.0, "s"),
}


def graph(nodes, changed=False):
    """Layers of eight operations with a residual connection each; `changed`: one of them is another operation."""
    ops = ("relu", "neg", "tanh", "sigmoid", "exp", "abs", "cos")
    meta = [{"dtype": "f32", "sizes": [8, 16]}]
    listed = [{"kind": "placeholder", "name": "x", "target": "x", "results": meta}]
    last = skip = "x"
    for i in range(nodes):
        layer, step = divmod(i, 8)
        op = "aten.sin.default" if changed and i == nodes // 2 else f"aten.{ops[step % 7]}.default"
        args = [{"node": last}]
        if step == 7:
            op, args = "aten.add.Tensor", [{"node": last}, {"node": skip}]
        stack = [{"file": "model.cpp", "line": 10 + step, "function": "Layer::forward", "text": f"x = {op}(x);"},
                 {"file": "model.cpp", "line": 40, "function": "Model::forward", "text": "x = layer->forward(x);"},
                 {"file": "main.cpp", "line": 7, "function": "main", "text": "model(x);"}]
        name = ("after_" if changed else "v") + str(i)
        listed.append({"kind": "call", "name": name, "target": op, "args": args, "results": meta, "stack": stack,
                       "module_path": f"layers.{layer}.{'attention' if step < 4 else 'mlp'}"})
        last = name
        if step == 7:
            skip = name
    listed.append({"kind": "output", "name": "output", "args": [{"node": last}]})
    return {"format": "whittle.graph", "version": "1.2", "name": "model", "dialect": "aten", "nodes": listed}


def seconds(command, folder, *codes):
    """Of the fastest of three runs."""
    best = None
    for _ in range(3):
        begin = time.monotonic()
        ran = subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        took = time.monotonic() - begin
        if ran.returncode not in codes:
            sys.exit(f"bench report: error: {' '.join(command)} exits with {ran.returncode}: {ran.stderr}")
        best = took if best is None else min(best, took)
    return best


PAN = """new Promise(done => {
  const canvas = document.querySelector('.gc canvas'), box = canvas.getBoundingClientRect(), times = [];
  const at = (type, x, y) => canvas.dispatchEvent(new PointerEvent(type, {bubbles: true, clientX: x, clientY: y,
    pointerId: 1, button: 0, buttons: type === 'pointerup' ? 0 : 1, isPrimary: true}));
  const x = box.x + box.width / 2, y = box.y + box.height / 2, begin = performance.now();
  at('pointerdown', x, y);
  const frame = now => {
    times.push(now);
    const t = (now - begin) / 1000;
    at('pointermove', x + 200 * Math.sin(3 * t), y + 150 * Math.cos(2 * t));
    if (t < 2) return requestAnimationFrame(frame);
    at('pointerup', x, y);
    done((times.length - 1) / (times[times.length - 1] - times[0]) * 1000);
  };
  requestAnimationFrame(frame);
})"""


def in_browser(page, figures):
    path = find()
    if not path:
        print("Chromium is not installed: no first paint, no panning")
        return
    with Chromium(path) as browser:
        browser.open(page)
        paint = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
        figures["first_paint_seconds"] = (browser.value(f"new Promise(done => {{ const look = () => {paint} ? done({paint}) : "
                                                        "setTimeout(look, 20); look(); })")) / 1000
        browser.go("graph=model")
        figures["frames_per_second"] = browser.value(PAN)
        if browser.console:
            sys.exit("bench report: error: the page writes to the console: " + browser.console[0])


def main(programs, nodes, file=None):
    explain = os.path.join(programs, "explain")
    figures = {"nodes": nodes}
    off = json.loads(subprocess.run([os.path.join(programs, "report_bench")], check=True, capture_output=True, text=True).stdout)
    figures["off_share"] = max(off["run_share"], off["compile_share"])
    with tempfile.TemporaryDirectory() as folder:
        for name, changed in (("before", False), ("after", True)):
            with open(os.path.join(folder, name + ".json"), "w") as out:
                json.dump(graph(nodes, changed), out)
        plain = [explain, "before.json"]
        without = seconds(plain, folder, 0)
        figures["html_seconds"] = max(0.0, seconds([*plain, "--html", "page.html"], folder, 0) - without)
        figures["explain_seconds"] = without
        figures["html_bytes"] = os.path.getsize(os.path.join(folder, "page.html"))
        figures["diff_seconds"] = seconds([explain, "diff", "before.json", "after.json"], folder, 1)
        figures["diff_html_seconds"] = seconds([explain, "diff", "before.json", "after.json", "--html", "d.html"], folder, 1)
        in_browser(os.path.join(folder, "page.html"), figures)
    for name, (what, kind, bound, unit) in BOUNDS.items():
        if name not in figures:
            continue
        value = figures[name]
        ratio = value / bound
        good = ratio <= 1 if kind == "at most" else ratio >= 1
        print(f"{what + ':':34} {value:14,.4g} {unit:2} {kind} {bound:,g}, ratio {ratio:.3f}{'' if good else '   MISSED'}")
    print(f"explain without the page {figures['explain_seconds']:.2f} s; diff with its page {figures['diff_html_seconds']:.2f} s; "
          f"an interpreted call {off['call_ns']:.0f} ns, a span that nobody wants {off['span_ns']:.1f} ns")
    if file:
        with open(file, "w") as out:
            json.dump({**figures, "off": off}, out)


main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
