// What happened, worst first, and where: the functions with the stacks below them.
import { D, G, kernelsOf, sourceHash, stageHash } from './data.js';
import { LABEL, cmd, h, icon, link, pill, placeLink, snippet } from './elements.js';
import { partsByNode } from './kernels.js';
import { isIn, listed, nf, plural, sec, within } from './words.js';

/** What happened at a line: where capture broke, what was relied on, what is computed wrong. */
const AT = new Map();
const noteAt = (at, status) => at && AT.set(at[0] + '\0' + at[1], [...new Set([...(AT.get(at[0] + '\0' + at[1]) || []), status])]);
for (const g in D.accuracy)
  if (G[g])
    for (const v of D.accuracy[g].values) {
      const n = G[g].byId[v.node];
      if (n && n.at && (v.node === D.accuracy[g].first || v.node === D.accuracy[g].nan_born))
        noteAt(n.at[0], v.node === D.accuracy[g].first ? 'failed' : 'nan');
    }
for (const b of D.breaks) noteAt(b.at[0], 'break');
for (const r of D.recompiles) noteAt(r.at[0], 'recompiled');

/** Rows below a function: how its operations were called, from the function inwards. */
function stacksBelow(f) {
  const root = { kids: new Map(), ops: 0 };
  for (const name of f.graphs)
    for (const n of G[name].nodes) {
      if (n.kind !== 'op' || !n.at) continue;
      const at = n.at.findIndex((a) => isIn(a, f.name));
      if (at < 0) continue;
      let here = root;
      for (let i = at; i >= 0; i--) {
        const key = n.at[i].slice(0, 3).join('\0');
        if (!here.kids.has(key)) here.kids.set(key, { at: n.at[i], graph: name, kids: new Map(), ops: 0 });
        here = here.kids.get(key);
        here.status = AT.get(n.at[i][0] + '\0' + n.at[i][1]) || [];
        here.ops++;
      }
    }
  // Where capture broke there may be no operation.
  for (const b of D.breaks) {
    const at = b.frame === f.name ? b.at.findIndex((a) => isIn(a, f.name)) : -1;
    let here = root;
    for (let i = at; i >= 0; i--) {
      const key = b.at[i].slice(0, 3).join('\0');
      if (!here.kids.has(key))
        here.kids.set(key, { at: b.at[i], graph: f.graphs[0], kids: new Map(), ops: 0, status: AT.get(b.at[i][0] + '\0' + b.at[i][1]) || [] });
      here = here.kids.get(key);
    }
  }
  return root;
}

/** Where the function was called from: the place outside of it in the stacks of its operations. */
function calledFrom(f) {
  for (const name of f.graphs)
    for (const n of G[name].nodes) {
      const at = (n.at || []).findIndex((a) => isIn(a, f.name));
      if (at >= 0 && n.at[at + 1]) return n.at[at + 1];
    }
  return null;
}

const words = (names) => listed(names, 2).join('');

function headline() {
  const having = (status) => D.frames.filter((f) => f.status.includes(status)).map((f) => f.name);
  const does = (names, one, many) => names.length && words(names) + ' ' + (names.length > 1 ? many : one);
  if (D.headline) return failureLine(D.headline);
  const rest = [
    does(having('break'), 'has graph breaks', 'have graph breaks'),
    does(having('recompiled'), 'was recompiled', 'were recompiled'),
    does(having('nan'), 'computes NaN', 'compute NaN'),
    does(having('ok'), 'is fine', 'are fine'),
  ].filter(Boolean);
  return h(
    'p.lead.s-ok',
    D.graphs.length || D.halide ? 'Nothing failed. ' : 'Nothing was captured. ',
    rest.length ? h('span.dim', rest.join('; ') + '.') : '',
  );
}

/** What failed, at which place, how much of the model that concerns, and whether there is a repro. */
function failureLine(line) {
  const f = D.findings.find((one) => one.title === line.text),
    at = line.place,
    graphs = f.graphs || [];
  const about = [
    within(graphs.length, [...new Set(graphs.map((g) => G[g] && G[g].frame).filter(Boolean))], at),
    line.more ? plural(line.more, 'more failure') + ' below.' : '',
    D.findings.some((one) => one.repro) ? 'A verified repro is the first row below.' : '',
  ];
  const where = at ? [' at ', placeLink(at, graphs[0]), at[2] ? [' in ', h('span.m', at[2])] : ''] : line.where ? ' at ' + line.where : '';
  return [
    h('p.lead.s-failed', h('b', line.text), where, '. ', h('span.dim', about.filter(Boolean).join(' '))),
    at && D.files[at[0]].lines[at[1] - 1] ? snippet(at, 0, 'failed') : '',
  ];
}

/** The graphs that fail for one cause, each a link to its first wrong value. */
const graphLinks = (f) =>
  f.graphs && f.graphs.length > 1
    ? h('p.more', listed(f.graphs.map((g) => link(D.accuracy[g] && D.accuracy[g].first ? 'accuracy=' + g + '&node=' + D.accuracy[g].first : 'graph=' + g, h('span.m', g))), 12))
    : '';

/** The kernels that compute the first wrong value: their schedule and code. */
function kernelLinks(f) {
  const g = f.node && G[(f.graphs || [])[0]],
    parts = (g && partsByNode(kernelsOf(g)).get(f.node)) || [];
  return parts.length
    ? h('p.more', 'Schedule and code: ', parts.slice(0, 4).map(([k, stage], i) => [i ? ', ' : '', link(stageHash(k, stage), h('span.m', k.name + '.' + k.stages[stage].name))]))
    : '';
}

function findingRow(f) {
  return h(
    'div.find-row.s-' + f.level + (f.command ? '' : '.wide'),
    h('span.ico', { title: LABEL[f.level] }, icon(f.level, 18)),
    h(
      'div',
      h('h3', h('a', { href: '#' + f.go }, f.title), f.place ? [' ', placeLink(f.place, f.graphs && f.graphs[0])] : f.where ? [' ', h('span.place', f.where)] : ''),
      h('p', f.detail),
      graphLinks(f),
      kernelLinks(f),
    ),
    f.command ? cmd(f.command) : '',
  );
}

/** One line of the tree, and the group of what is below it, closed. */
function treeRow(parent, depth, status, name, place, cells, below, opened) {
  const box = h('div', { role: 'group', hidden: true }),
    twist = below.length
      ? h('button.tw', { 'aria-label': 'Expand ' + name.textContent, 'aria-expanded': 'false' }, icon('tw', 12))
      : h('span.tw');
  if (below.length)
    twist.onclick = () => {
      if (!box.childElementCount) for (const add of below) add(box);
      box.hidden = !box.hidden;
      twist.classList.toggle('x', !box.hidden);
      twist.setAttribute('aria-expanded', String(!box.hidden));
    };
  if (opened && below.length) twist.onclick();
  parent.append(
    h(
      'div.r' + (status.length ? '.s-' + status[0] : ''),
      { role: 'treeitem' },
      h(
        'span.nm',
        { style: 'padding-left:' + depth * 18 + 'px' },
        twist,
        status.length ? icon(status[0], 15) : '',
        name,
        h('span.place', place ? placeLink(place) : ''),
        status.slice(1).map((x) => pill(x)),
      ),
      cells.map((c) => h('span', c)),
    ),
    box,
  );
}

function functionTree() {
  const heads = ['Function', 'Graphs', 'Operations', 'Breaks', 'Recompiles', 'Calls', 'Compile time'];
  const tree = h(
    'div.trie',
    { role: 'tree', 'aria-label': 'Functions' },
    h(
      'div.r.hd',
      heads.map((t) => h('span', t)),
    ),
  );
  const longest = Math.max(1e-9, ...D.frames.map((f) => f.compile_seconds));
  const stackRow = (depth) => (entry) => (parent) =>
    treeRow(
      parent,
      depth,
      entry.status || [],
      h('span.fn', link(sourceHash(entry.at, entry.graph), entry.at[2] || '?')),
      entry.at,
      ['', entry.ops ? nf(entry.ops) : '', '', '', '', ''],
      [...entry.kids.values()].map(stackRow(depth + 1)),
      [...entry.kids.values()].some(troubled),
    );
  const troubled = (entry) => (entry.status || []).length > 0 || [...entry.kids.values()].some(troubled);
  const worst = ['failed', 'break', 'recompiled', 'nan', 'ok'];
  const frames = [...D.frames].sort((a, b) => worst.indexOf(a.status[0]) - worst.indexOf(b.status[0]));
  for (const f of frames) {
    const view = { recompiled: 'guards=' + f.name, break: 'breaks=' + f.name }[f.status[0]] || 'graph=' + f.graphs[0];
    const time = f.compile_seconds
      ? [
          h('i.bar', { style: 'width:' + Math.max(2, (56 * f.compile_seconds) / longest) + 'px' }),
          sec(f.compile_seconds),
        ]
      : '';
    treeRow(
      tree,
      0,
      f.status,
      h('b', link(view, f.name)),
      calledFrom(f) || f.at,
      [
        nf(f.graphs.length),
        nf(f.ops),
        f.breaks ? nf(f.breaks) : '',
        f.recompiles ? nf(f.recompiles) : '',
        f.calls ? nf(f.calls) + (f.calls_guessed ? ' (guessed)' : '') : '',
        time,
      ],
      [...stacksBelow(f).kids.values()].map(stackRow(1)),
      f.status[0] !== 'ok' && frames.length <= 20,
    );
  }
  return tree;
}

export const overview = {
  title: 'Overview',
  key: '1',
  build(el) {
    const t = D.totals,
      stat = (n, word) => h('div', h('b', nf(n)), n === 1 ? word : word + 's'),
      pg = h('div.page');
    el.append(pg);
    pg.append(
      ...[headline()].flat(),
      h(
        'div.stats',
        D.halide ? [stat(D.halide.directives.length, 'directive'), stat(D.halide.pipelines.length, 'Halide pipeline')] : '',
        D.halide && !D.graphs.length
          ? ''
          : [
              stat(t.functions, 'function'),
              stat(t.graphs, 'graph'),
              stat(t.ops, 'operation'),
              stat(t.breaks, 'graph break'),
              stat(t.recompiles, 'recompile'),
            ],
        t.compile_seconds ? h('div', h('b', sec(t.compile_seconds)), 'compile time' + (t.compile_backend ? ', ' + t.compile_backend : '')) : '',
      ),
      h('div.rows', D.findings.map(findingRow)),
    );
    if (D.unsupported.length)
      pg.append(
        h('p.note', { style: 'margin-top:14px' }, D.backend + ' does not support ' + D.unsupported.join(', ') + '.'),
      );
    if (D.frames.length)
      pg.append(
        h('h2', 'Functions', h('span', 'each function with its status, and the place where the function is called or first computes; below each function, the stacks of its operations')),
        functionTree(),
      );
  },
};
