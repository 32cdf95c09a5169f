// The data of the page (README.md), and its graphs, values and findings by their names.
import { guiltyStage } from './kernels.js';
import { base, sci } from './words.js';

export const D = JSON.parse(document.getElementById('data').textContent);
export const modelName = base(D.model.replace(/\/+$/, ''));

/** Graphs by name. A node knows its place (`i`) and who reads it (`users`). */
export const G = Object.fromEntries(D.graphs.map((g) => [g.name, g]));
for (const g of D.graphs) {
  g.nodes.forEach((n, i) => Object.assign(n, { i, users: [] }));
  g.byId = Object.fromEntries(g.nodes.map((n) => [n.id, n]));
  for (const n of g.nodes) for (const x of n.in) if (g.byId[x]) g.byId[x].users.push(n.id);
}

/** Compared values, by graph and node. */
export const ACC = {};
for (const g in D.accuracy) ACC[g] = Object.fromEntries(D.accuracy[g].values.map((v) => [v.node, v]));
/** Of a value against the reference: [name of its class, color]. */
export const CLOSE = {
  same: ['same bits', 'var(--k5)'],
  rounding: ['within rounding', 'var(--k2)'],
  differs: ['differs', 'var(--failed)'],
  nan: ['NaN', 'var(--nan)'],
};
export function closenessOf(v) {
  if (v.nan) return 'nan';
  if (v.closeness === 'differs') return 'differs';
  return v.max_ulp > 0 || v.max_abs > 0 ? 'rounding' : 'same';
}
/** An error of a value: 0 over what is finite says nothing where there are NaN. */
export const finite = (v, error) => (v.nan && !error ? '–' : sci(error));
export const isFirstWrong = (g, n) => !!D.accuracy[g.name] && D.accuracy[g.name].first === n.id;

/** The finding that a failing graph belongs to. */
export const CAUSE = {};
for (const f of D.findings) for (const g of f.graphs || []) CAUSE[g] = f;

export const PROFILE = D.profile || { spans: [], graphs: [], kernels: [], memory: [], ops: [] };
export const kernelsOf = (g) => (g ? PROFILE.kernels.filter((k) => k.graph === g.name) : []);
/** The kernel whose texts it has: equal kernels have one code. */
export const codeOf = (k) => PROFILE.kernels.find((x) => x.graph === k.graph && x.name === k.code_of) || k;
/** The part whose schedule is guilty of a result of minify: the stage that its directive names; null where none is known. */
export function guiltyPart(m) {
  const left = new Set((m.nodes || []).map((n) => n.id)),
    name = guiltyStage(m);
  for (const k of name ? kernelsOf({ name: m.graph }) : []) {
    const stage = k.stages.findIndex((x) => x.name === name && (x.nodes || []).some((n) => left.has(n)));
    if (stage >= 0) return [k, stage];
  }
  return null;
}

export const file = (at) => D.files[at[0]].path;
export const place = (at) => base(file(at)) + ':' + at[1];
const sameLine = (a, b) => a[0] === b[0] && a[1] === b[1];
/** The first graph with an operation of that line, or else the one to look at first. */
export function graphOf(at) {
  const found = D.graphs.find((g) => g.nodes.some((n) => (n.at || []).some((a) => sameLine(a, at))));
  return found ? found.name : mainGraph();
}
export function mainGraph() {
  const wrong = Object.keys(D.accuracy).find((g) => D.accuracy[g].first && G[g]);
  return wrong || (D.graphs.length ? D.graphs[0].name : '');
}

// Addresses within the page.
/** Shows what the address names, again if it is the one of now. */
export function go(hash) {
  if (location.hash.slice(1) === hash) dispatchEvent(new Event('hashchange'));
  else location.hash = hash;
}
export const sourceHash = (at, graph) =>
  'source=' + encodeURIComponent(graph || graphOf(at)) + '&file=' + at[0] + '&line=' + at[1];
export const stageHash = (kernel, stage) =>
  'source=' + encodeURIComponent(kernel.graph) + '&kernel=' + kernel.name + '&stage=' + stage;
