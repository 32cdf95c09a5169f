// How this capture differs from an earlier one: the view of explain diff. The other views show the later one.
import { D, G, go } from './data.js';
import { h, icon, link, rowsTable } from './elements.js';
import { nf, plural, sec } from './words.js';

export const diff = {
  title: 'What differs',
  label: 'Difference',
  key: '0',
  build(el) {
    const pg = h('div.page.dif');
    el.append(pg);
    const d = D.diff,
      total = d.gone.length + d.added.length + d.changed.length;
    pg.append(
      h(
        'p.lead.s-' + (d.same ? 'ok' : 'break'),
        d.same ? 'Only times differ. ' : [h('b', this.headline(d)), ' '],
        h('span.dim', plural(d.same_graphs, 'graph') + ' of ' + (d.same_graphs + total) + ' are the same.'),
      ),
      h('p.note', { style: 'margin-top:10px' }, 'before: ', h('span.m', d.before), ', after: ', h('span.m', d.after)),
    );
    this.counts(pg, 'Graph breaks', d.breaks, 'Break', true);
    this.counts(pg, 'Recompiles', d.recompiles, 'Guard', true);
    this.list(pg, 'Graphs that are gone', d.gone, 'gone');
    this.list(pg, 'New graphs', d.added, 'came');
    if (d.changed.length) pg.append(h('h2', 'Graphs that changed', h('span', 'node by node; the names of nodes do not matter')));
    for (const c of d.changed) pg.append(this.graph(c));
    if (d.values.length)
      pg.append(
        h('h2', 'Values', h('span', 'the first recorded value of each graph that differs')),
        rowsTable(
          ['Graph', 'Value', 'Difference'],
          d.values.map((v) => [this.name(v.graph), h('span.m', v.value), v.difference]),
        ),
      );
    this.counts(pg, 'Operations', d.ops, 'Operation');
    if (d.compile_seconds_before || d.compile_seconds_after)
      pg.append(
        h('h2', 'Compile time'),
        h('p', sec(d.compile_seconds_before) + ' before, ' + sec(d.compile_seconds_after) + ' after'),
      );
  },
  headline(d) {
    const more = d.breaks.reduce((sum, b) => sum + b.after - b.before, 0);
    const parts = [
      d.breaks.length && (more > 0 ? plural(more, 'more graph break') : more < 0 ? plural(-more, 'fewer graph break') : 'different graph breaks'),
      d.changed.length && plural(d.changed.length, 'graph') + ' changed',
      d.added.length && d.added.length + ' new',
      d.gone.length && d.gone.length + ' gone',
      d.recompiles.length && 'different recompiles',
      d.values.length && plural(d.values.length, 'graph') + ' with different values',
    ].filter(Boolean);
    return parts.join(', ') + '.';
  },
  name: (graph) => (G[graph] ? link('graph=' + graph, h('span.m', graph)) : h('span.m', graph)),
  /** `bad`: the more the worse. */
  counts(pg, title, list, what, bad) {
    if (!list.length) return;
    pg.append(
      h('h2', title),
      rowsTable(
        [what, 'Where', '#Before', '#After', ''],
        list.map((c) => [
          h('span.m', c.what),
          c.place || '',
          nf(c.before),
          nf(c.after),
          h(!bad ? 'span' : (c.after > c.before ? 'span.gone' : 'span.came'), (c.after > c.before ? '+' : '−') + Math.abs(c.after - c.before)),
        ]),
      ),
    );
  },
  list(pg, title, graphs, how) {
    if (!graphs.length) return;
    pg.append(
      h('h2', title),
      rowsTable(
        ['Graph', 'Function', '#Operations'],
        graphs.map((g) => [how === 'came' ? this.name(g.name) : h('span.m', g.name), h('span.m', g.frame), nf(g.ops)]),
      ),
    );
  },
  /** Lines of nodes, with − for the first side's and + for the second's. */
  graph(c) {
    const line = (sign, how, text) => h('div.' + how, h('i', sign), h('span', text));
    const id = (text) => (text.match(/^%(\w+)/) || [])[1];
    const box = h('div.src', { tabindex: 0, style: 'max-height:520px' });
    for (const n of c.nodes) {
      if (n.before) box.append(line('−', 'gone', n.before));
      if (n.after) {
        const e = line('+', 'came', n.after);
        const g = G[c.after.name];
        if (g && g.byId[id(n.after)]) {
          e.style.cursor = 'pointer';
          e.onclick = () => go('graph=' + c.after.name + '&node=' + id(n.after));
        }
        box.append(e);
      }
      for (const change of n.changes || []) box.append(line('', 'dim', '    ' + change));
    }
    const guards = (list, sign, how) => list.map((text) => line(sign, how, text));
    return h(
      'div.card.s-break',
      h(
        'header',
        icon('break', 17),
        h('h3.m', this.name(c.after.name)),
        c.before.name !== c.after.name ? h('span.dim', 'was ' + c.before.name) : '',
        h('span', { style: 'flex:1' }),
        h('span.dim', plural(c.before.ops, 'operation') + (c.before.ops === c.after.ops ? '' : ', now ' + c.after.ops)),
      ),
      c.nodes.length ? box : '',
      c.resized ? h('p.note.in', plural(c.resized, 'further node') + ' with other dtypes or sizes, because their operands differ in dtypes or sizes.') : '',
      c.guards_gone.length + c.guards_new.length
        ? h('div.src', guards(c.guards_gone, '−', 'gone'), guards(c.guards_new, '+', 'came'))
        : '',
    );
  },
};
