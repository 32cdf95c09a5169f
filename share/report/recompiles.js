// Guards: when each graph may be reused, which guards failed, and which specialization each call hit.
import { D, G } from './data.js';
import { h, hover, icon, link, placeLink, rowsTable } from './elements.js';
import { callCount, listed, nf, plural, sec } from './words.js';

export const guards = {
  title: 'Recompiles',
  key: '5',
  build(el) {
    const pg = h('div.page');
    el.append(pg);
    this.cards = {};
    const n = D.totals.recompiles;
    pg.append(
      h(
        'p.lead',
        n ? plural(n, 'recompile') + ', ' : 'No recompiles.',
        n ? h('span.dim', 'each because a guard failed.') : '',
      ),
      h('div', { style: 'height:22px' }),
    );
    const count = (f) => this.failed(f).reduce((sum, r) => sum + r.count, 0);
    for (const f of [...D.frames].sort((a, b) => count(b) - count(a))) {
      if (!f.graphs.some((g) => G[g].guards.length)) continue;
      pg.append((this.cards[f.name] = this.card(f)));
    }
  },
  failed: (f) => D.recompiles.filter((r) => r.frame === f.name),
  /** A box for each call: its number, and the specialization that it hit. */
  calls(f) {
    const calls = D.calls.filter((c) => c.frame === f.name);
    if (calls.length < 2) return '';
    const kind = (c) => (c.specialization == null ? 'eager' : c.guard ? 'new' : c.compiled ? 'first' : 'hit');
    const what = (c) =>
      (c.guard ? c.guard + '\n' : '') +
      (c.specialization == null
        ? 'ran eagerly: no specialization fits, and the cache limit is reached'
        : (c.compiled ? 'compiled specialization ' : 'hit specialization ') + c.specialization) +
      (c.graphs && c.graphs.length ? '\nran ' + c.graphs.join(', ') : '');
    const told = calls.length < (f.calls || 0) ? 'the first ' + nf(calls.length) + ' of ' + nf(f.calls) : nf(calls.length);
    return [
      h('p.note', told + ' calls, each with its number and the specialization that the call used; filled: the call compiled a specialization'),
      h(
        'div.calls',
        { role: 'list' },
        calls.map((c) =>
          hover(
            h(
              'div.call.' + kind(c),
              { role: 'listitem', tabindex: 0, 'aria-label': 'call ' + c.call + ': ' + what(c) },
              h('b', nf(c.call)),
              c.specialization == null ? 'eager' : '#' + c.specialization,
            ),
            what(c),
          ),
        ),
      ),
      this.changes(calls.filter((c) => c.guard)),
    ];
  },
  /** What each call that no specialization fitted found instead. */
  changes: (calls) =>
    calls.length
      ? rowsTable(
          ['#Call', 'Guard that failed', 'Found', 'Result'],
          calls.map((c) => [
            nf(c.call),
            h('span.m', c.condition),
            h('span.m.newv', c.found),
            c.specialization == null
              ? 'ran eagerly'
              : [c.compiled ? 'compiled ' : 'ran ', (c.graphs || []).map((x, i) => [i ? ', ' : '', G[x] ? link('graph=' + x, h('span.m', x)) : x])],
          ]),
          20,
        )
      : '',
  callers(f) {
    const from = D.callers.filter((c) => c.frame === f.name && c.at.length).sort((a, b) => b.calls - a.calls);
    return from.length
      ? h('p.note', { style: 'margin-top:10px' }, 'called from ', listed(from.map((c) => [placeLink(c.at[0]), ' ' + c.at[0][2] + ' (' + callCount(c.calls, f.calls_guessed) + ')']), 6))
      : '';
  },
  card(f) {
    const failed = this.failed(f),
      status = failed.length ? 'recompiled' : 'ok';
    return h(
      'div.card.s-' + status,
      h(
        'header',
        icon(status, 17),
        h('h3.m', f.name),
        f.at ? [h('span.dim', 'first operation at '), placeLink(f.at)] : '',
        h('span', { style: 'flex:1' }),
        h(
          'span.dim',
          [
            plural(f.graphs.length, 'graph'),
            f.calls && callCount(f.calls, f.calls_guessed),
            f.eager_calls && f.eager_calls + ' of them eager',
            f.compile_seconds && sec(f.compile_seconds) + ' compiling' + (D.totals.compile_backend ? ' for ' + D.totals.compile_backend : ''),
          ]
            .filter(Boolean)
            .join(', '),
        ),
      ),
      h(
        'div.in',
        failed.length
          ? rowsTable(
              ['Failed guard and value found', '#Times', 'Hint', 'Relied on at'],
              failed.map((r) => [h('span.m', r.guard), nf(r.count), r.advice, r.at.length ? placeLink(r.at[0]) : '']),
            )
          : '',
        this.calls(f),
        this.callers(f),
        f.graphs.map((name, i) => this.guards(G[name], i ? G[f.graphs[i - 1]] : null)),
      ),
    );
  },
  /** For a graph after another, only the guards that differ. */
  guards(g, before) {
    const own = g.guards.filter((text) => !before || !before.guards.includes(text)),
      shared = g.guards.length - own.length;
    const list = (texts) => h('ul.gl', texts.map((x) => h('li' + (before ? '.ch' : ''), x)));
    return [
      h(
        'p.note',
        { style: 'margin:14px 0 6px' },
        link('graph=' + g.name, h('span.m', g.name)),
        ' is reused while',
        before && shared ? ' ' + plural(shared, 'guard') + ' of ' + before.name + (shared === 1 ? ' holds' : ' hold') + (own.length ? ', and' : '') : '',
      ),
      own.length ? list(own) : '',
      g.symbols.map((s) => h('p.note', s.name + ' = ' + s.place + ' was ' + s.values.join(', '))),
    ];
  },
  show(p) {
    const c = this.cards[p.guards];
    if (c) c.scrollIntoView({ block: 'start' });
  },
};
