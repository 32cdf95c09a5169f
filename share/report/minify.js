// How minify shrank the graph, question by question, and the repro that it ends in.
V.minify = {
  title: 'Minified',
  key: '8',
  build(el) {
    const pg = h('div.page', { style: 'max-width:1240px' });
    el.append(pg);
    if (!D.minify || !D.minify.length) {
      pg.append(
        h('p.lead', 'Nothing was minimized.'),
        h('p.note', 'It is with explain MODEL --backend NAME --minify --html FILE, where the backend fails.'),
      );
      return;
    }
    for (const one of D.minify) this.result(pg, one);
  },
  result(pg, m) {
    const failed = m.verdict === 'minimized';
    pg.append(
      h(
        'p.lead' + (failed ? '.s-failed' : ''),
        failed
          ? [
              plural(m.calls_before, 'operation') + ' became ',
              h('b', plural(m.calls_after, 'operation')),
              '. ',
              h('span.dim', 'It still fails in the same way: ' + m.signature + '.'),
            ]
          : 'It was not minimized: ' + m.verdict.replace('_', ' ') + '.',
      ),
      h(
        'div.stats',
        [
          ['queries', nf(m.queries)],
          ['from the cache', nf(m.cache_hits)],
          ['unresolved', nf(m.unresolved)],
          ['time', sec(m.seconds)],
          ['1-minimal', m.one_minimal ? 'yes' : 'no'],
          ['run again, fails alike', m.confirmed ? 'yes' : 'no'],
        ].map(([label, value]) => h('div', h('b', value), label)),
      ),
    );
    if (m.history.length > 1) this.plot(pg, m.history);
    if (m.graph_text) {
      pg.append(h('h2', 'What is left', h('span', m.message)), this.text(m.graph_text, /$^/));
      if (m.culprit && (m.culprit.directive || m.culprit.op))
        pg.append(
          h(
            'div.hint',
            { style: 'margin-top:12px' },
            h('b', 'Guilty'),
            h('span', m.culprit.component),
            h('span.m', m.culprit.directive || m.culprit.op),
          ),
        );
    }
    if (m.repro)
      pg.append(
        h(
          'h2',
          'The repro',
          h('span', m.repro.output + ', ' + (m.repro.verified ? 'verified: it fails as the model does, and its control passes' : 'not verified')),
          copyBtn(m.repro.text),
        ),
        this.text(m.repro.text, /<-- this/),
        m.repro.compile_command ? h('div', { style: 'margin-top:12px' }, cmd(m.repro.compile_command)) : '',
      );
    if (m.passes)
      pg.append(
        h('h2', 'Reductions'),
        rowsTable(
          ['Reduction', '#Tried', '#Taken', '#Operations', '#Elements'],
          m.passes.map((q) => [
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
        h('summary', 'every question'),
        rowsTable(
          ['#Query', '#After', 'Reduction', 'Answer', '#Operations', '#Elements'],
          m.history.map((q) => [nf(q.query), sec(q.seconds), q.pass, q.verdict, nf(q.calls), nf(q.elements)]),
        ),
      ),
    );
  },
  text(text, hit) {
    const box = h('div.src.s-failed', { tabindex: 0, style: 'max-height:460px' });
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
    const svg = s('svg', { viewBox: `0 0 ${W} ${H}`, class: 'ch', role: 'img', 'aria-label': 'Size of the candidates; every question is in the table below' });
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
      h('h2', { style: 'margin-top:6px' }, 'How it shrank', h('span', 'size of each candidate, on logarithmic scales')),
      svg,
      h(
        'div.legend',
        { style: 'padding-left:72px' },
        h('span', h('i', { style: 'background:var(--acc);border-radius:9px' }), 'fails alike: taken'),
        h('span', h('i', { style: 'border:1.5px solid var(--fg3);border-radius:9px' }), 'passes: rejected'),
        h('span', h('i', { style: 'border:1.5px solid var(--break);transform:rotate(45deg);width:8px;height:8px' }), 'unresolved'),
      ),
    );
  },
};
