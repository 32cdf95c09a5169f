// The page: navigation, addresses, keys, printing. Each view is a module of its own.
import { accuracy } from './accuracy.js';
import { breaks } from './breaks.js';
import { D, go, mainGraph, modelName } from './data.js';
import { diff } from './diff.js';
import { $, h, icon, s, say, tip } from './elements.js';
import { env } from './environment.js';
import { graph } from './graph.js';
import { halide } from './halide.js';
import { minify } from './minify.js';
import { overview } from './overview.js';
import { guards } from './recompiles.js';
import { search } from './search.js';
import { source } from './source.js';
import { time } from './time.js';

/** The views, in the order of the navigation: {title, key, build(element), show(parameters of the address)}. */
const V = { ...(D.diff ? { diff } : {}), overview, ...(D.halide ? { halide } : {}), graph, source, breaks, guards, accuracy, time, minify, env };
const ids = Object.keys(V);

const wrongGraphs = D.graphs.filter(
  (g) => (g.failure && g.failure.wrong) || (D.accuracy[g.name] && D.accuracy[g.name].first),
);
const minimized = (D.minify || []).find((m) => m.result === 'minimized');
/** What stands beside a view's name. */
const COUNT = {
  overview: D.findings.length,
  halide: D.halide && D.halide.directives.length,
  graph: D.graphs.length,
  breaks: D.totals.breaks,
  guards: D.totals.recompiles,
  minify: minimized && minimized.calls_before + ' → ' + minimized.calls_after,
  accuracy: wrongGraphs.length || null,
};

const logo = s(
  'svg',
  {
    width: 22,
    height: 22,
    viewBox: '0 0 22 22',
    fill: 'none',
    stroke: 'currentColor',
    'stroke-width': 1.8,
    'stroke-linejoin': 'round',
    'stroke-linecap': 'round',
  },
  s('path', { d: 'M3 4.500l4 13 4-9 4 9 4-13' }),
);
const navLink = (id) =>
  h(
    'a.v',
    { href: '#' + id, title: V[id].title + ' (' + V[id].key + ')' },
    icon(id),
    h('span', V[id].label || V[id].title),
    COUNT[id] == null ? '' : h('b' + (id === 'accuracy' ? '.c.s-failed' : ''), String(COUNT[id])),
  );
const links = Object.fromEntries(ids.map((id) => [id, navLink(id)]));
$('nav').append(
  h('div.brand', logo, h('div', 'Whittle', h('small', { title: D.model }, modelName))),
  ...Object.values(links),
  h(
    'div.foot',
    h('div', h('kbd', '/'), ' search'),
    h('div', h('kbd', '1'), ' – ', h('kbd', '9'), ' views'),
    h('div', h('kbd', '?'), ' all keys'),
  ),
);

const root = document.documentElement,
  dark = matchMedia('(prefers-color-scheme:dark)');
function flip() {
  const now = root.dataset.theme || (dark.matches ? 'dark' : 'light');
  root.dataset.theme = now === 'dark' ? 'light' : 'dark';
  graph.theme();
}
dark.onchange = () => graph.theme();

const openSearch = search(
  V,
  () => (cur === 'graph' && graph.g ? graph.g.name : null),
  (kind) => kind === 'node' && graph.cv && graph.cv.focus({ preventScroll: true }),
);
const title = h('h1'),
  context = h('div.ctx');
$('header.top').append(
  title,
  context,
  h('span.sp'),
  h(
    'button.btn.find',
    { onclick: openSearch, 'aria-label': 'Search' },
    icon('search', 14),
    h('span', 'Search'),
    h('kbd', '/'),
  ),
  h('button.btn.ic', { 'aria-label': 'Light or dark', title: 'Light or dark (t)', onclick: flip }, icon('sun', 15)),
);

const els = {};
function ensure(id) {
  if (els[id]) return;
  els[id] = h('div.view' + (V[id].fill ? '.fill' : ''), { id: 'v-' + id, 'data-title': V[id].title });
  const next = ids.slice(ids.indexOf(id) + 1).find((other) => els[other]);
  $('#views').insertBefore(els[id], next ? els[next] : null);
  V[id].build(els[id]);
}

/** The parameters of the address: {graph: 'net_0', node: 'relu'}. */
const parameters = () =>
  Object.fromEntries(
    location.hash
      .slice(1)
      .split('&')
      .filter(Boolean)
      .map((p) => {
        const [name, ...value] = p.split('=');
        return [name, decodeURIComponent(value.join('='))];
      }),
  );

/** What the header says: the model, or which graph the source stands beside. */
function contextOf(id, p) {
  if (id !== 'source') return [h('span.m', D.model), D.backend ? h('span.tag', D.backend) : ''];
  const shown = p.source || mainGraph();
  const options = D.graphs.map((x) => h('option', { value: x.name, selected: x.name === shown }, x.name));
  return [h('select.btn', { 'aria-label': 'Graph', onchange: (e) => go('source=' + e.target.value) }, options)];
}

let cur = null;
function route() {
  const p = parameters(),
    id = ids.find((i) => i in p) || ids[0];
  ensure(id);
  if (cur !== id) {
    for (const i of ids) {
      if (els[i]) els[i].classList.toggle('on', i === id);
      links[i].classList.toggle('on', i === id);
      links[i].setAttribute('aria-current', i === id ? 'page' : 'false');
    }
    cur = id;
    tip.style.display = 'none';
    title.textContent = V[id].title;
  }
  context.replaceChildren(...contextOf(id, p).filter(Boolean));
  document.title = V[id].title + ' · ' + modelName + ' · Whittle';
  if (V[id].show) V[id].show(p);
}
addEventListener('hashchange', route);

// What is printed: all views but the source, light, the graph as a picture.
let themeBefore, picture;
addEventListener('beforeprint', () => {
  themeBefore = root.dataset.theme;
  root.dataset.theme = 'light';
  for (const i of ids.filter((id) => id !== 'source')) {
    ensure(i);
    els[i].classList.add('on');
    if (V[i].show) V[i].show(i === cur ? parameters() : {});
  }
  if (!graph.scene) return;
  picture = graph.snapshot(1200, 800);
  graph.cv.after(picture);
});
addEventListener('afterprint', () => {
  if (themeBefore) root.dataset.theme = themeBefore;
  else delete root.dataset.theme;
  if (picture) picture.remove();
  graph.theme();
  for (const i of ids) if (els[i]) els[i].classList.toggle('on', i === cur);
  route();
});

$('#help').append(
  h(
    'div.in',
    [
      ['/', 'search everything: functions, nodes, source lines'],
      ['1 – 9', D.diff ? 'views; 0: what differs' : 'views'],
      ['↑ ↓ ← →', 'graph: move along edges; source: previous and next operation'],
      ['Enter', 'graph: open or close the module around the node'],
      ['+ − f', 'graph: zoom in, out, fit'],
      ['a', 'from the node to its source, and back'],
      ['n', 'next finding'],
      ...(D.halide ? [['h', 'the schedule']] : []),
      ['t', 'light or dark'],
      ['Esc', 'deselect'],
    ].map(([k, t]) => [h('span', h('kbd', k)), h('span', t)]),
  ),
);
$('#help').onclick = (e) => e.currentTarget.close();

let finding = -1;
function nextFinding() {
  if (!D.findings.length) return;
  finding = (finding + 1) % D.findings.length;
  go(D.findings[finding].go);
  say(D.findings[finding].title);
}
/** Of the source: the operation before the selected one, or behind it. */
function step(by, p) {
  const { nodes, byId, name } = source.g,
    now = byId[p.node] ? byId[p.node].i : -1;
  go('source=' + name + '&node=' + nodes[Math.max(0, Math.min(nodes.length - 1, now + by))].id);
}
const KEYS = {
  '/': openSearch,
  '?': () => $('#help').showModal(),
  t: flip,
  n: nextFinding,
  a: (p) => {
    const other = cur === 'source' ? 'graph=' : 'source=';
    if (p.node) go(other + (p.graph || p.source || p.accuracy) + '&node=' + p.node);
  },
  Escape: (p) => (p.node || p.line || p.kernel) && go(cur + '=' + (p[cur] || '')),
  ArrowUp: (p) => cur === 'source' && step(-1, p),
  ArrowDown: (p) => cur === 'source' && step(1, p),
};
for (const id of ids) KEYS[V[id].key] = () => go(id);
addEventListener('keydown', (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName) || $('dialog[open]'))
    return;
  if (e.key === '/' || (cur === 'source' && /^Arrow(Up|Down)$/.test(e.key))) e.preventDefault();
  if (Object.hasOwn(KEYS, e.key)) KEYS[e.key](parameters());
});

$('#app').hidden = false;
route();
/** For tests: what the page is about, its views, and how one goes to an address. */
window.whittle = { D, V, go };
