// The search over everything that has a name: functions, views, graphs, nodes, kernels, lines of source.
import { D, PROFILE, go, isFirstWrong, sourceHash, stageHash } from './data.js';
import { $, LABEL, h } from './elements.js';
import { plural, short } from './words.js';

/** All entries: {kind, name, about, hash}. */
function entries(views) {
  const wrong = [],
    nodes = [];
  for (const g of D.graphs)
    for (const n of g.nodes) {
      const first = isFirstWrong(g, n);
      const name = '%' + n.id + '  ' + short(n.op) + (n.mod ? '  ' + n.mod : '') + (first ? '  ✕ first wrong' : '');
      (first ? wrong : nodes).push({ kind: 'node', name, about: g.name, hash: 'graph=' + g.name + '&node=' + n.id });
    }
  const functions = D.frames.map((f) => ({
    kind: 'function',
    name: f.name,
    about: f.status.map((x) => LABEL[x]).join(', '),
    hash: 'graph=' + f.graphs[0],
  }));
  const named = Object.entries(views).map(([id, view]) => ({ kind: 'view', name: view.title, about: view.key, hash: id }));
  const graphs = D.graphs.map((g) => ({ kind: 'graph', name: g.name, about: plural(g.ops, 'op'), hash: 'graph=' + g.name }));
  const kernels = PROFILE.kernels.map((k) => ({
    kind: 'kernel',
    name: k.name + '  ' + k.stages.map((stage) => stage.name).join(', '),
    about: k.graph,
    hash: stageHash(k, k.stages.length - 1),
  }));
  const lines = D.files.flatMap((f, file) =>
    f.lines.map((text, i) => ({ kind: 'line', name: text.trim(), about: f.path + ':' + (i + 1), at: [file, i + 1] })),
  );
  const all = [...wrong, ...functions, ...named, ...graphs, ...nodes, ...kernels, ...lines.filter((line) => line.name)];
  for (const one of all) one.text = (one.name + ' ' + one.about).toLowerCase();
  return all;
}

/** Sets up the dialog over `views`; `shown()` is the name of the graph that is seen, whose entries come first. */
export function search(views, shown, chosen) {
  const dialog = $('#pal'),
    input = $('#pal input'),
    list = $('#pal ul');
  let all = null,
    found = [];
  const choose = (one) => {
    dialog.close();
    if (!one) return;
    go(one.hash || sourceHash(one.at));
    chosen(one.kind);
  };
  const look = () => {
    all ??= entries(views);
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean),
      graph = shown();
    const fits = all.filter((one) => words.every((word) => one.text.includes(word)));
    found = [...fits.filter((one) => one.about === graph), ...fits.filter((one) => one.about !== graph)].slice(0, 60);
    const row = (one, i) =>
      h(
        'li' + (i ? '' : '.on'),
        { role: 'option', onclick: () => choose(one) },
        h('em', one.kind),
        h('span', one.name),
        h('small', one.about),
      );
    list.replaceChildren(...found.map(row));
  };
  const mark = (from, to) => {
    const rows = list.children;
    if (rows[from]) rows[from].classList.remove('on');
    if (!rows[to]) return;
    rows[to].classList.add('on');
    rows[to].scrollIntoView({ block: 'nearest' });
  };
  input.oninput = look;
  dialog.onclick = (e) => e.target === dialog && dialog.close();
  dialog.onkeydown = (e) => {
    const at = [...list.children].findIndex((row) => row.classList.contains('on'));
    if (e.key === 'Enter') choose(found[at]);
    else if (e.key === 'ArrowDown') mark(at, Math.min(found.length - 1, at + 1));
    else if (e.key === 'ArrowUp') mark(at, Math.max(0, at - 1));
    else return;
    e.preventDefault();
  };
  return () => {
    dialog.showModal();
    input.select();
    look();
  };
}
