// What stands beside the graph: the facts of the selected node, or of the graph.
import { ACC, CAUSE, D, G, finite, kernelsOf, stageHash } from './data.js';
import { cmd, h, icon, link, pill, placeLink, say, snippet } from './elements.js';
import { partsByNode } from './kernels.js';
import { byteSize, bytes, percent, plural, sci, sec, shape, short } from './words.js';

export const facts = (g, n) => (n ? nodeFacts(g, n) : graphFacts(g)).filter(Boolean);

const section = (title, ...content) => h('div.sec', h('b', title), content);
/** A section about what is good or bad: `title` says it with an icon. */
const statusSection = (status, title, ...content) => h('div.sec.s-' + status, h('b', title), content);
/** Pairs [name, value, its class]; empty ones are left out. */
const list = (pairs, at) =>
  h('dl', at, pairs.filter(Boolean).map(([name, value, of]) => [h('dt', name), h('dd' + (of || ''), value)]));
const explanation = (text) => h('p', { style: 'color:var(--fg2);margin:6px 0 10px' }, text);

function graphFacts(g) {
  const { first, nan_born: born, message } = D.accuracy[g.name] || {};
  const known = first || born;
  const brokenBy = (reason) => link('breaks=' + encodeURIComponent(g.frame), pill('break', reason));
  const compiled = sec(g.compile_seconds) + (g.compilations > 1 ? ' in ' + g.compilations + ' compilations' : '');
  const at = first && CAUSE[g.name] && CAUSE[g.name].place;
  return [
    h('h2', g.name),
    list([
      ['function', h('span.m', g.frame)],
      ['size', plural(g.ops, 'op') + ', ' + plural(g.inputs, 'input') + ', ' + plural(g.outputs, 'output')],
      ['parameters', g.parameters ? g.parameters + ', ' + bytes(g.parameter_bytes) : 'none'],
      ['ended by', g.ended_by === 'return' ? g.ended_by : brokenBy(g.ended_by)],
      g.compile_seconds && ['compiled', compiled],
    ]),
    g.failure && !first && failure(g),
    known &&
      statusSection(
        first ? 'failed' : 'nan',
        pill(first ? 'failed' : 'nan', first ? 'wrong results' : 'NaN'),
        at ? h('p', short(ACC[g.name][first].op), ' at ', placeLink(at, g.name)) : '',
        explanation(message || 'The reference has NaN, too.'),
        g.byId[known] ? h('div.lkr', link('graph=' + g.name + '&node=' + known, 'go to %' + known), h('span', '↵')) : '',
      ),
    g.variant_of && section('Variant', h('p', 'of ', link('graph=' + g.variant_of, g.variant_of), ': ', g.difference)),
    g.capture_fault && statusSection('failed', pill('failed', 'capture fault'), h('p', g.capture_fault)),
    g.symbols.length &&
      section(
        'Symbols',
        g.symbols.map((s) => h('div.lkr', h('span', s.name + ' = ' + s.values.join(', ')), h('span', s.place))),
      ),
    g.guards.length &&
      section(
        'Guards',
        g.guards.map((x) => h('div.lkr', { style: 'overflow-wrap:anywhere' }, h('span', x))),
      ),
    g.replay && section('Replay', cmd(g.replay)),
  ];
}

/** That the backend fails on the graph, where no value of it is known to be the first wrong one. */
function failure(g) {
  const { not_compared: why, wrong, message, runs } = g.failure;
  const cause = Object.values(CAUSE).find((f) => f.op && f.graphs.some((x) => G[x] && G[x].frame === g.frame));
  const of = cause && cause.graphs[0];
  return statusSection(
    'failed',
    pill('failed', wrong ? 'wrong results' : 'fails'),
    explanation(message + (runs > 1 ? ' (the first of ' + runs + ' runs)' : '')),
    why ? h('p.note', 'No first wrong value: ' + why + '.') : '',
    why && cause
      ? h(
          'p.note',
          'The first wrong value of ' + of + ', a graph of the same function: ',
          link(cause.go, cause.op),
          cause.place ? [' at ', placeLink(cause.place, of)] : '',
          '.',
        )
      : '',
  );
}

function nodeFacts(g, n) {
  say(n.text || n.id);
  const lines = (texts) => texts.map((text) => h('div', text));
  return [
    h('h2', h('span', short(n.op)), ' ', h('span.m', { style: 'color:var(--fg3);font-weight:400' }, '%' + n.id)),
    list([
      n.out.length && ['result', n.out.map((o) => h('div.m', shape(o)))],
      n.out.length && ['size', bytes(n.out.reduce((sum, o) => sum + byteSize(o), 0))],
      n.kind === 'op' && ['operation', n.op, '.m'],
      n.mod && ['module', n.mod, '.m'],
      n.params && ['weights', lines(n.params), '.m'],
    ]),
    accuracy(ACC[g.name] && ACC[g.name][n.id]),
    kernels(partsByNode(kernelsOf(g)).get(n.id)),
    n.at && source(g, n),
    neighbors(g, 'Inputs', n.in),
    neighbors(g, 'Used by', n.users),
  ];
}

function accuracy(v) {
  if (!v) return null;
  const differs = v.closeness === 'differs',
    status = v.nan ? 'nan' : differs ? 'failed' : 'ok';
  const largest = finite(v, v.max_abs) + ' abs, ' + finite(v, v.max_rel) + ' rel';
  return statusSection(
    status,
    ['Against the reference ', pill(status, v.nan ? v.nan + ' NaN' : differs ? 'differs' : 'close')],
    list(
      [
        ['largest', largest + (v.nan ? ', of the finite elements' : ''), '.m'],
        ['ULP', finite(v, v.max_ulp), '.m'],
        ['RMSE, f64', sci(v.rmse) + ' (reference ' + sci(v.reference_rmse) + ')', '.m'],
      ],
      { style: 'margin-top:8px' },
    ),
  );
}

/** The kernels that compute the node, with the stages in each. */
function kernels(parts) {
  if (!parts) return null;
  const about = (k) => [k.runs && sec(k.seconds), k.roofline != null && percent(k.roofline) + ' of the roofline'];
  const stages = (k) => parts.filter(([x]) => x === k).map(([, stage]) => stage);
  return section(
    'Kernel',
    [...new Set(parts.map(([k]) => k))].map((k) => [
      h('div.lkr', h('span', k.name), h('span', about(k).filter(Boolean).join(', '))),
      h('div.m', stages(k).map((stage, i) => [i ? ', ' : '', link(stageHash(k, stage), k.stages[stage].name)])),
    ]),
  );
}

const source = (g, n) =>
  section(
    'Source',
    snippet(n.at[0], 1),
    h(
      'div',
      { style: 'margin-top:8px' },
      n.at.map((a) => h('div.lkr', placeLink(a, g.name), h('span', a[2]))),
    ),
    h(
      'a.btn',
      { href: '#source=' + g.name + '&node=' + n.id, style: 'margin-top:10px' },
      icon('source', 14),
      'Source beside the graph',
    ),
  );

function neighbors(g, title, ids) {
  const first = (id) => g.byId[id].out[0];
  const row = (id) =>
    h('div.lkr', link('graph=' + g.name + '&node=' + id, '%' + id), h('span', first(id) ? shape(first(id)) : ''));
  return ids.length ? section(title, ids.map(row)) : null;
}
