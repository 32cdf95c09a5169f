// The error of each value against the reference, along the graph.
import { CLOSE, D, G, closenessOf, finite, go } from './data.js';
import { h, hover, link, pill, placeLink, s } from './elements.js';
import { plural, sci, short } from './words.js';

/** The chart: its size, its margins, and the least error that it shows, as a power of ten. */
const CHART = { W: 1160, H: 262, L: 46, R: 8, T: 26, B: 56, least: -9 };
const log = (v) => (v > 0 ? Math.log10(v) : CHART.least);

export const accuracy = {
  title: 'Accuracy',
  key: '6',
  build(el) {
    this.pg = h('div.page', { style: 'max-width:1240px' });
    el.append(this.pg);
  },
  show(p) {
    const asked = p.accuracy && G[p.accuracy] && !D.accuracy[p.accuracy] ? G[p.accuracy] : null;
    if (asked && D.backend) {
      this.name = null;
      this.pg.replaceChildren(...notCompared(asked));
      return;
    }
    const name = D.accuracy[p.accuracy] ? p.accuracy : this.name || Object.keys(D.accuracy)[0];
    if (!name) {
      const how = 'To compare the values of a backend that computes wrong results, run: explain MODEL --backend NAME --html FILE';
      this.pg.replaceChildren(h('p.lead', 'No values were compared.'), h('p.note', how));
      return;
    }
    const drawn = this.name === name;
    if (!drawn) this.draw(name);
    this.select(this.rows[p.node], drawn);
  },
  /** Marks the row of a value, and scrolls to it unless the graph was drawn just now. */
  select(row, scroll) {
    if (!row) return;
    const paint = (r, color) => [...r.children].forEach((cell) => (cell.style.background = color));
    if (this.selected) paint(this.selected, '');
    paint(row, 'var(--bg2)');
    this.selected = row;
    if (scroll) row.scrollIntoView({ block: 'nearest' });
  },
  draw(name) {
    this.name = name;
    this.selected = null;
    const compared = new Comparison(name);
    const { table, rows } = valuesTable(compared);
    this.rows = rows;
    this.pg.replaceChildren(
      lead(compared),
      compared.message ? note('The graph as a whole: ' + compared.message) : '',
      compared.only_forward ? note('Only forward values were compared, because ' + compared.only_forward) : '',
      chartHead(name, h('span', 'root mean square error against f64, one column per value')),
      chart(compared),
      legend(),
      h('h2', 'Values', h('span', 'largest absolute and relative error, ULP, RMSE against f64')),
      table,
    );
  },
};

/** The compared values of a graph, with what the page says about each. */
class Comparison {
  constructor(name) {
    Object.assign(this, D.accuracy[name], { name, g: G[name] });
    this.several = new Set(this.values.filter((v) => v.result > 0).map((v) => v.node));
  }
  /** Each result of an operation with several has its number. */
  number(v) {
    return this.several.has(v.node) ? '[' + v.result + ']' : '';
  }
  called(v) {
    return '%' + v.node + this.number(v);
  }
  node(id) {
    return this.g && this.g.byId[id];
  }
  at(id) {
    const n = this.node(id);
    return n && n.at ? n.at[0] : null;
  }
  indexOf(id) {
    return this.values.findIndex((v) => v.node === id);
  }
}

const note = (text) => h('p.note', { style: 'margin-top:8px' }, text);
const chartHead = (name, ...more) => h('h2', { style: 'align-items:center' }, 'Error along', graphChoice(name), more);

/** Of a graph whose values were not compared. */
function notCompared(g) {
  const { failure } = g;
  const why = failure && (failure.not_compared || (failure.wrong ? 'its values were not compared' : 'it does not run: ' + failure.message));
  return [
    h(
      'p.lead' + (failure ? '.s-failed' : ''),
      h('b', g.name),
      failure ? ' fails; its first wrong value is unknown. ' : ' does not fail: there is nothing to compare. ',
      h('span.dim', why ? why + '.' : ''),
    ),
    failure ? note(failure.message) : '',
    Object.keys(D.accuracy).length ? chartHead(g.name) : '',
  ];
}

/** Chooses a graph: those that were compared, and those that fail without having been. */
function graphChoice(name) {
  const known = D.graphs.filter((g) => D.accuracy[g.name] || g.failure || g.name === name).map((g) => g.name);
  const names = [...new Set([...known, ...Object.keys(D.accuracy)])];
  return h(
    'select.btn',
    { 'aria-label': 'Graph', onchange: (e) => go('accuracy=' + e.target.value) },
    names.map((n) => h('option', { value: n, selected: n === name }, n + (D.accuracy[n] ? '' : ' (not compared)'))),
  );
}

function lead(compared) {
  const { first, nan_born: born, values, name } = compared,
    graph = (compared.joint ? 'the joint graph of ' : '') + name;
  const content = first
    ? [h('b', '%' + first), ' is the first wrong value', whereFirst(compared), '. ', h('span.dim', howManyWrong(compared))]
    : born
      ? [h('b', '%' + born), ' is the first NaN. ', h('span.dim', 'The reference has the same NaN, so the cause is the program, not the compiler.')]
      : ['All values agree. ', h('span.dim', plural(values.length, 'value') + ' of ' + graph + ', with rounding noise at most.')];
  return h('p.lead.s-' + (first ? 'failed' : born ? 'nan' : 'ok'), content);
}

function whereFirst(compared) {
  const at = compared.at(compared.first);
  return at ? [' (', placeLink(at, compared.name), ')'] : '';
}

function howManyWrong({ values, first }) {
  const before = values.findIndex((v) => v.node === first),
    wrong = values.filter((v) => v.closeness === 'differs').length;
  const right =
    before === 0
      ? 'No value is computed earlier'
      : before === 1
        ? 'The one earlier result is right'
        : 'The ' + before + ' earlier results are right';
  return right + '; ' + wrong + ' of the graph’s ' + plural(values.length, 'result') + (wrong === 1 ? ' is wrong.' : ' are wrong.');
}

/** A column for each value: its error, the reference's own as a line, a strip with its class below. */
function chart(compared) {
  const { W, H, L, R, T, B, least } = CHART;
  const { values, first, nan_born: born } = compared;
  const wide = (W - L - R) / values.length,
    most = Math.max(1, ...values.map((v) => Math.ceil(log(v.rmse || v.max_abs || 0))));
  const y = (v) => T + (H - T - B) * (1 - (Math.max(least, v) - least) / (most - least));
  const svg = s('svg', { viewBox: `0 0 ${W} ${H}`, class: 'ch', role: 'img', 'aria-label': 'Error along the graph' });
  for (let e = least; e <= most; e += 2)
    svg.append(
      s('line', { x1: L, x2: W - R, y1: y(e), y2: y(e), class: 'ax' }),
      s('text', { x: L - 8, y: y(e) + 4, 'text-anchor': 'end' }, e === least ? '0' : '1e' + e),
    );
  const noise = values.map((v, i) => [L + i * wide, y(log((v.reference_rmse || 0) * 10))]);
  const steps = noise.map(([x, top]) => `L${x} ${top}L${x + wide} ${top}`).join('');
  svg.append(s('path', { d: `M${L} ${y(least)}${steps}L${W - R} ${y(least)}Z`, fill: 'var(--fg)', 'fill-opacity': 0.09 }));
  svg.append(...values.map((v, i) => column(compared, v, L + i * wide, wide, y, most)));
  const flag = (id, text, color, row) => {
    const i = compared.indexOf(id),
      late = i > values.length * 0.6,
      x = L + i * wide;
    if (i < 0) return;
    const place = { x: x + (late ? -7 : 7), y: 10 + 13 * row, 'text-anchor': late ? 'end' : 'start' };
    svg.append(
      s('line', { x1: x, x2: x, y1: 6, y2: H - B + 20, stroke: color, 'stroke-width': 1.5 }),
      s('text', { ...place, style: `fill:${color};font-weight:600` }, text),
    );
  };
  flag(first, 'first wrong value: %' + first, 'var(--failed)', 0);
  flag(born, 'first NaN: %' + born, 'var(--nan)', 1);
  svg.append(...captions(compared, wide));
  return svg;
}

/** The column of a value that begins at x. */
function column(compared, v, x, wide, y, most) {
  const { H, T, B, least } = CHART;
  const width = Math.min(14, wide * 0.62),
    middle = x + wide / 2,
    left = middle - width / 2,
    color = CLOSE[closenessOf(v)][1],
    top = y(v.nan ? most : log(v.rmse || v.max_abs || 0));
  const bar = (members) => s('rect', { x: left, width, rx: 2, fill: color, ...members });
  const nan = { x: middle, y: y(most) + 15, 'text-anchor': 'middle', style: 'fill:var(--nan);font-weight:600' };
  const own = v.reference_rmse ? y(log(v.reference_rmse)) : null;
  const parts = [
    s('rect', { x, y: T, width: wide, height: H - T - 4, fill: 'transparent' }),
    v.nan ? bar({ y: y(most), height: y(least) - y(most), 'fill-opacity': 0.16 }) : null,
    bar({ y: top, height: Math.max(2, y(least) - top), 'fill-opacity': v.nan ? 0.001 : 0.85 }),
    v.nan && wide > 44 ? s('text', nan, v.nan + ' NaN') : null, // else they would cover each other; the tip says it
    own != null
      ? s('line', { x1: left - 2, x2: left + width + 2, y1: own, y2: own, stroke: 'var(--fg)', 'stroke-width': 1.5 })
      : null,
    s('rect', { x: x + 0.5, y: H - B + 6, width: wide - 1, height: 12, rx: 2, fill: color, 'fill-opacity': strength(v) }),
  ];
  const show = () => go('accuracy=' + compared.name + '&node=' + v.node);
  return hover(s('g', { style: 'cursor:pointer', onclick: show }, parts), tipOf(compared, v));
}

/** How strong the color of the strip is: by the steps of the data type. */
function strength(v) {
  if (v.nan) return 0.9;
  if (v.closeness !== 'differs') return 0.12 + 0.1 * log(1 + (v.max_ulp || 0));
  return 0.25 + 0.75 * Math.min(1, Math.max(0, log(v.max_ulp || 1) / 9.4));
}

const tipOf = (compared, v) =>
  [
    compared.called(v) + '  ' + short(v.op),
    'largest error ' + finite(v, v.max_abs) + ', ' + sci(v.max_ulp) + ' ULP',
    'RMSE ' + sci(v.rmse) + ', reference ' + sci(v.reference_rmse),
  ].join('\n');

/** Below the columns: operations where there is room for them, else modules where they begin. */
function captions(compared, wide) {
  const { H, L } = CHART;
  const byOp = wide > 30,
    texts = [];
  let before = null,
    end = -99;
  compared.values.forEach((v, i) => {
    const n = compared.node(v.node),
      module = n && n.mod ? n.mod.split('.').slice(0, 2).join('.') : before;
    const text = byOp ? short(v.op) + compared.number(v) : module;
    if (!text || (!byOp && text === before)) return;
    before = text;
    const width = text.length * 6,
      x = byOp ? L + (i + 0.5) * wide : L + i * wide + 1,
      from = byOp ? x - width / 2 : x;
    const low = from < end;
    if (!byOp && low) return;
    texts.push(s('text', { x, y: H - (low ? 0 : 12), 'text-anchor': byOp ? 'middle' : 'start' }, text));
    if (!low) end = from + width + 6;
  });
  return texts;
}

function legend() {
  const sign = (style, text) => h('span', h('i', { style }), text);
  const noise = 'background:color-mix(in srgb,var(--fg) 12%,transparent)',
    line = 'background:var(--fg);height:2px;vertical-align:3px;width:12px',
    strip = 'background:linear-gradient(90deg,color-mix(in srgb,var(--failed) 25%,transparent),var(--failed));width:30px';
  return h(
    'div.legend',
    { style: 'padding-left:46px' },
    Object.values(CLOSE).map(([word, color]) => sign('background:' + color, word)),
    sign(noise, 'rounding noise: up to ten times the reference’s error'),
    sign(line, 'the reference’s own error'),
    sign(strip, 'strip below: ULP'),
  );
}

/** {table, rows: the row of each node}. */
function valuesTable(compared) {
  const rows = {};
  const body = h('tbody');
  for (const v of compared.values) body.append((rows[v.node] = valueRow(compared, v)));
  const heads = ['Value', 'Operation', 'Source', 'Sizes'].map((text) => h('th', text)),
    largest = { title: 'The largest error over the elements that are finite in both' },
    figures = ['Relative', 'ULP', 'RMSE', 'Reference’s'].map((text) => h('th.n', text));
  const head = h('thead', h('tr', h('th', ''), heads, h('th.n', largest, 'Absolute'), figures));
  return { rows, table: h('div.scroll', h('table', head, body)) };
}

function valueRow(compared, v) {
  const at = compared.at(v.node),
    { name, first, nan_born: born } = compared;
  const differs = v.closeness === 'differs' ? pill('failed', v.node === first ? 'first' : 'differs') : '';
  return h(
    'tr',
    h('td', v.nan ? pill('nan', (v.node === born ? 'first: ' : '') + v.nan + ' NaN') : differs),
    h('td.m', compared.node(v.node) ? link('graph=' + name + '&node=' + v.node, compared.called(v)) : compared.called(v)),
    h('td.m.dim', short(v.op)),
    h('td', at ? placeLink(at, name) : ''),
    h('td.m.dim', v.sizes.join('×')),
    [v.max_abs, v.max_rel, v.max_ulp, v.rmse].map((error) => h('td.n.m', finite(v, error))),
    h('td.n.m.dim', sci(v.reference_rmse)),
  );
}
