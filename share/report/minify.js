// The minimized graph, its repro, and how it was found, query by query.
import { CAUSE, D, G, guiltyPart, stageHash } from './data.js';
import { cmd, code, copyBtn, h, hover, link, placeLink, rowsTable, s, saveBtn } from './elements.js';
import { guiltyStage } from './kernels.js';
import { base, nf, plural, sec, short } from './words.js';

export const minify = {
  title: 'Minified',
  key: '8',
  build(el) {
    const pg = h('div.page', { style: 'max-width:1240px' });
    el.append(pg);
    if (!D.minify || !D.minify.length) {
      pg.append(
        h('p.lead', 'Nothing was minimized.'),
        h('p.note', 'To minimize a failure: explain MODEL --backend NAME --minify --html FILE'),
      );
      return;
    }
    for (const one of D.minify) this.result(pg, one);
  },
  /** The repro before how it was found. */
  result(pg, m) {
    const failed = m.result === 'minimized';
    pg.append(
      h(
        'p.lead' + (failed ? '.s-failed' : ''),
        failed
          ? [
              plural(m.calls_before, 'operation') + (G[m.graph] ? ' of ' : ''),
              G[m.graph] ? link('graph=' + m.graph, m.graph) : '',
              ' minimized to ',
              h('b', this.alone(m) ? short(this.alone(m).op) + ' alone' : plural(m.calls_after, 'operation')),
              this.place(m) ? [' (', placeLink(this.place(m), G[m.graph] && m.graph), ')'] : '',
              '. ',
              h('span.dim', 'The failure is the same: ' + m.signature + '.'),
            ]
          : 'Not minimized: ' + m.result.replace('_', ' ') + '.',
      ),
    );
    if (failed && D.totals.graphs > 1 && G[m.graph])
      pg.append(h('p.note', { style: 'margin-top:8px' }, m.graph + ' is the smallest of the graphs that fail in this way. The program has ' + plural(D.totals.ops, 'operation') + ' in ' + plural(D.totals.graphs, 'graph') + '.'));
    if (m.graph_text) pg.append(h('h2', 'Minimized graph', h('span', m.minimized_message || m.message)), this.text(m.graph_text, /$^/));
    if (m.culprit && (m.culprit.directive || m.culprit.op)) this.guilty(pg, m);
    if (m.repro) this.repro(pg, m);
    this.search(pg, m);
  },
  /** The one operation that is left; null where there are several. */
  alone: (m) => (m.nodes && m.nodes.length === 1 ? m.nodes[0] : null),
  /** Where that stands in the source. */
  place(m) {
    const n = this.alone(m);
    if (n && n.at.length) return n.at[0];
    return CAUSE[m.graph] && CAUSE[m.graph].place;
  },
  /** Whose decision it is that makes the difference, where that code is, who mends it and what works without it. */
  guilty(pg, m) {
    const c = m.culprit,
      what = c.directive || c.op,
      races = (c.together || []).some((other) => other.endsWith('allow_race_conditions()')),
      who = {
        schedule: 'A scheduling directive that Whittle’s rules for ' + D.backend + ' chose: ' + (races ? 'this directive allows races between updates, so some updates are lost.' : 'a directive should change the speed, never the result.'),
        switch: 'A part of the compiler that can be disabled.',
        lowering: 'Whittle’s lowering of this operation for ' + D.backend + '.',
        gradient: 'Whittle’s gradient rule of this operation.',
        pass: 'A pass of Whittle, which changes the graph before the lowering.',
        compiler: 'The compiler itself: no decision of Whittle causes the failure.',
      }[c.component] || '';
    const stage = guiltyStage(m),
      part = guiltyPart(m),
      n = this.alone(m);
    pg.append(
      h('h2', 'Culprit', h('span', c.component)),
      h('p', h('span.m.s-failed', h('b', { style: 'color:var(--c)' }, what)), c.together && c.together.length && c.directive ? h('span.dim', ' with ' + c.together.join(', ')) : ''),
      h('p', { style: 'margin-top:6px' }, who),
      stage
        ? h(
            'p',
            { style: 'margin-top:4px' },
            h('span.m', stage),
            ' is a loop ' + (n ? 'inside ' + short(n.op) : 'of the kernel'),
            part ? ['; in ' + m.graph + ' this loop is in ', link(stageHash(...part), h('span.m', part[0].name), ', beside its source')] : '',
            '.',
          )
        : '',
      c.dependents ? h('p.note', { style: 'margin-top:4px' }, 'Directives that depend on this directive, and are switched off together with it: ' + c.dependents.join(', ') + '.') : '',
      m.options ? h('p.note', { style: 'margin-top:4px' }, 'Found with the backend options ' + Object.entries(m.options).map(([key, value]) => key + '=' + value).join(', ') + '.') : '',
      m.report_to ? h('p', { style: 'margin-top:4px' }, h('b', 'Report the failure to '), m.report_to + '.') : '',
      m.without ? h('div', { style: 'max-width:760px' }, h('p.note', { style: 'margin:8px 0 6px' }, 'Without this directive, the minimized graph is right:'), cmd(m.without)) : '',
    );
  },
  repro(pg, m) {
    const r = m.repro,
      name = base(r.output),
      small = r.form === 'short';
    pg.append(
      h('h2', 'The repro', h('span', name + ', ' + (r.verified ? 'verified: the program was built and run, and reproduces the failure' : 'not verified')), copyBtn(r.text), saveBtn(name, r.text)),
      small
        ? h('p', { style: 'margin-bottom:8px' }, 'The minimized graph, reduced further to one kernel with small numbers. This program differs from the model, but has the same failure' + (r.message ? ' (' + r.message + ')' : '') + '.')
        : '',
      this.text(r.text, /<-- this/, 60),
      r.control ? h('p.note', { style: 'margin-top:8px' }, 'The control, ', h('span.m', (r.run_command || '') + ' control'), ', runs the same program with ' + r.control + (r.verified ? '. The control is right.' : '.')) : '',
      r.compile_command ? h('div', { style: 'margin-top:12px' }, cmd(r.compile_command + (r.run_command ? ' && ' + r.run_command : ''))) : '',
    );
  },
  /** How it was found: a query is one candidate that is compiled, run and compared. */
  search(pg, m) {
    if (m.history.length > 1) this.plot(pg, m.history);
    pg.append(
      h(
        'div.stats',
        [
          ['queries: candidates compiled and run', nf(m.queries)],
          m.cache_hits ? ['further queries, answered from the cache', nf(m.cache_hits)] : null,
          m.unresolved ? ['queries without a verdict', nf(m.unresolved)] : null,
          ['time', sec(m.seconds)],
          ['1-minimal: without any single operation, the failure disappears', m.one_minimal ? 'yes' : 'no'],
          ['same failure when run again', m.confirmed ? 'yes' : 'no'],
        ]
          .filter(Boolean)
          .map(([label, value]) => h('div', h('b', value), label)),
      ),
    );
    const tried = (m.passes || []).filter((q) => q.tried);
    if (tried.length)
      pg.append(
        h('h2', 'Reductions', h('span', 'the reductions that tried a candidate')),
        rowsTable(
          ['Reduction', '#Tried', '#Accepted', '#Operations', '#Elements'],
          tried.map((q) => [
            q.name,
            nf(q.tried),
            nf(q.accepted),
            q.before.calls + ' → ' + q.after.calls,
            nf(q.before.elements) + ' → ' + nf(q.after.elements),
          ]),
        ),
      );
    pg.append(
      h(
        'details',
        h('summary', 'every query'),
        rowsTable(
          ['#Query', '#After', 'Reduction', 'Verdict', '#Operations', '#Elements'],
          m.history.map((q) => [nf(q.query), sec(q.seconds), q.pass, q.verdict, nf(q.calls), nf(q.elements)]),
        ),
      ),
    );
  },
  /** Lines of code; more than `most` scroll. */
  text(text, hit, most = 24) {
    const box = h('div.src.s-failed', { tabindex: 0, style: text.split('\n').length > most ? 'max-height:460px' : '' });
    text.replace(/\n$/, '').split('\n').forEach((line, i) => box.append(h('div' + (hit.test(line) ? '.hit' : ''), h('i', String(i + 1)), h('span', code(line)))));
    return box;
  },
  plot(pg, Q) {
    const W = 1160,
      L = 72,
      R = 12,
      PH = 112,
      GAP = 36,
      T = 38,
      H = T + 2 * PH + GAP + 26,
      N = Q[Q.length - 1].query,
      x = (q) => L + ((W - L - R) * (q - 0.5)) / N;
    const svg = s('svg', { viewBox: `0 0 ${W} ${H}`, class: 'ch', role: 'img', 'aria-label': 'Size of the candidates; every query is in the table below' });
    const runs = [];
    for (const q of Q)
      if (runs.length && runs[runs.length - 1].pass === q.pass) runs[runs.length - 1].to = q.query;
      else runs.push({ pass: q.pass, from: q.query, to: q.query });
    let end = 0;
    runs.forEach((run, i) => {
      const left = x(run.from - 0.5);
      if (i % 2) svg.append(s('rect', { x: left, y: T - 4, width: x(run.to + 0.5) - left, height: 2 * PH + GAP + 8, fill: 'var(--fg)', 'fill-opacity': 0.03 }));
      const low = left < end;
      if (low && x(run.to) - left < 30) return;
      svg.append(s('text', { x: left + 4, y: low ? 26 : 12, style: 'fill:var(--fg2)' }, run.pass));
      end = left + run.pass.length * 6.6 + 10;
    });
    [
      ['calls', 'operations', T],
      ['elements', 'elements', T + PH + GAP],
    ].forEach(([key, name, top]) => {
      const scale = Math.log10(Math.max(10, ...Q.map((q) => q[key])) * 1.3),
        y = (v) => top + PH * (1 - Math.log10(Math.max(1, v)) / scale);
      for (let e = 0; e <= scale; e++)
        svg.append(s('line', { x1: L, x2: W - R, y1: y(10 ** e), y2: y(10 ** e), class: 'ax' }), s('text', { x: L - 10, y: y(10 ** e) + 4, 'text-anchor': 'end' }, nf(10 ** e)));
      svg.append(s('text', { x: W - R, y: top + 10, 'text-anchor': 'end', style: 'fill:var(--fg2);font-weight:600' }, name));
      let best = Q[0][key],
        d = `M${x(1)} ${y(best)}`;
      for (const q of Q) {
        d += `L${x(q.query)} ${y(best)}`;
        if (q.verdict === 'fails') d += `L${x(q.query)} ${y((best = q[key]))}`;
      }
      svg.append(s('path', { d: d + `L${W - R} ${y(best)}`, fill: 'none', stroke: 'var(--acc)', 'stroke-width': 1.8 }));
      for (const q of Q) {
        const cx = x(q.query),
          cy = y(q[key]),
          r = N > 150 ? 2.2 : 4;
        const mark =
          q.verdict === 'fails'
            ? s('circle', { cx, cy, r, fill: 'var(--acc)' })
            : q.verdict === 'unresolved'
              ? s('path', { d: `M${cx} ${cy - r}l${r} ${r}-${r} ${r}-${r}-${r}z`, fill: 'var(--bg)', stroke: 'var(--break)', 'stroke-width': 1.6 })
              : s('circle', { cx, cy, r, fill: 'var(--bg)', stroke: 'var(--fg3)', 'stroke-width': 1.4 });
        svg.append(hover(mark, `query ${q.query}, ${q.pass}: ${q.verdict}\n${plural(q.calls, 'operation')}, ${nf(q.elements)} elements, after ${sec(q.seconds)}`));
      }
    });
    svg.append(s('text', { x: L, y: H - 6 }, 'query 1'), s('text', { x: W - R, y: H - 6, 'text-anchor': 'end' }, nf(N)));
    pg.append(
      h('h2', { style: 'margin-top:6px' }, 'Sizes of the candidates', h('span', 'on logarithmic scales')),
      svg,
      h(
        'div.legend',
        { style: 'padding-left:72px' },
        h('span', h('i', { style: 'background:var(--acc);border-radius:9px' }), 'same failure: accepted'),
        h('span', h('i', { style: 'border:1.5px solid var(--fg3);border-radius:9px' }), 'passes: rejected'),
        h('span', h('i', { style: 'border:1.5px solid var(--break);transform:rotate(45deg);width:8px;height:8px' }), 'unresolved'),
      ),
    );
  },
};
