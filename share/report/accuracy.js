// The error of each value against the reference, along the graph.
V.accuracy = {
  title: 'Accuracy',
  key: '6',
  build(el) {
    this.pg = h('div.page', { style: 'max-width:1240px' });
    el.append(this.pg);
  },
  show(p) {
    const asked = p.accuracy && G[p.accuracy] && !D.accuracy[p.accuracy] ? G[p.accuracy] : null;
    if (asked && D.backend) return this.none(asked);
    const name = D.accuracy[p.accuracy] ? p.accuracy : this.name || Object.keys(D.accuracy)[0];
    if (!name) {
      this.pg.replaceChildren(
        h('p.lead', 'No values were compared.'),
        h(
          'p.note',
          'They are where a backend that was named computes wrong results: explain MODEL --backend NAME --html FILE.',
        ),
      );
      return;
    }
    if (this.name !== name) this.draw(name);
    for (const r of this.pg.querySelectorAll('tr.on')) r.classList.remove('on');
    if (p.node && this.rows[p.node]) {
      const r = this.rows[p.node];
      for (const c of r.children) c.style.background = 'var(--bg2)';
      this.selRow && this.selRow !== r && [...this.selRow.children].forEach((c) => (c.style.background = ''));
      this.selRow = r;
      if (this.jump) r.scrollIntoView({ block: 'nearest' });
      this.jump = true;
    }
  },
  /** Of a graph whose values were not compared. */
  none(g) {
    this.name = null;
    const why = g.failure && (g.failure.not_compared || (g.failure.wrong ? 'its values were not compared' : 'it does not run: ' + g.failure.message));
    this.pg.replaceChildren(
      h('p.lead' + (g.failure ? '.s-failed' : ''), h('b', g.name), g.failure ? ' fails, and no value is known to be the first wrong one. ' : ' fails nowhere: there is nothing to compare. ', h('span.dim', why ? why + '.' : '')),
      g.failure ? h('p.note', { style: 'margin-top:8px' }, g.failure.message) : '',
      Object.keys(D.accuracy).length ? h('h2', { style: 'align-items:center' }, 'Error along', this.graphs(g.name)) : '',
    );
  },
  /** Chooses a graph: those that were compared, and those that fail without having been. */
  graphs(name) {
    const names = D.graphs.filter((g) => D.accuracy[g.name] || g.failure || g.name === name).map((g) => g.name);
    for (const n of Object.keys(D.accuracy)) if (!names.includes(n)) names.push(n);
    const sel = h(
      'select.btn',
      { 'aria-label': 'Graph', onchange: () => go('accuracy=' + sel.value) },
      names.map((n) => h('option', { value: n, selected: n === name }, n + (D.accuracy[n] ? '' : ' (not compared)'))),
    );
    return sel;
  },
  draw(name) {
    this.name = name;
    this.rows = {};
    this.jump = false;
    this.selRow = null;
    const A = D.accuracy[name],
      pg = this.pg,
      g = G[name];
    pg.replaceChildren();
    // Each result of an operation with several has its number.
    const several = new Set(A.values.filter((v) => v.result > 0).map((v) => v.node)),
      called = (v) => '%' + v.node + (several.has(v.node) ? '[' + v.result + ']' : '');
    const nd = A.values.filter((v) => v.closeness === 'differs').length,
      first = A.values.findIndex((v) => v.node === A.first),
      born = A.values.findIndex((v) => v.node === A.nan_born);
    pg.append(
      h(
        'p.lead.s-' + (A.first ? 'failed' : A.nan_born ? 'nan' : 'ok'),
        A.first
          ? [
              h('b', '%' + A.first),
              ' is the first wrong value',
              g && g.byId[A.first] && g.byId[A.first].at ? [' (', placeLink(g.byId[A.first].at[0], name), ')'] : '',
              '. ',
              h(
                'span.dim',
                (first === 0
                  ? 'Nothing is computed before it'
                  : first === 1
                    ? 'The one result before it is right'
                    : 'The ' + first + ' results before it are right') +
                  '; ' +
                  nd +
                  ' of the graph’s ' +
                  plural(A.values.length, 'result') +
                  (nd === 1 ? ' is wrong.' : ' are wrong.'),
              ),
            ]
          : A.nan_born
            ? [
                h('b', '%' + A.nan_born),
                ' is where NaN is born. ',
                h('span.dim', 'The reference has it, too: the program, not the compiler.'),
              ]
            : [
                'Every value agrees. ',
                h('span.dim', plural(A.values.length, 'value') + ' of ' + name + ', rounding noise at most.'),
              ],
      ),
    );
    if (A.message) pg.append(h('p.note', { style: 'margin-top:8px' }, 'What the graph returns, element by element: ' + A.message));
    pg.append(
      h(
        'h2',
        { style: 'align-items:center' },
        'Error along',
        this.graphs(name),
        h('span', 'root mean square against the same graph in f64, one column a value'),
      ),
    );
    const N = A.values.length,
      W = 1160,
      H = 262,
      L = 46,
      R = 8,
      T = 26,
      B = 56,
      cw = (W - L - R) / N;
    const lg = (v) => (v > 0 ? Math.log10(v) : -9);
    const lo = -9,
      hi = Math.max(1, ...A.values.map((v) => Math.ceil(lg(v.rmse || v.max_abs || 0))));
    const y = (v) => T + (H - T - B) * (1 - (Math.max(lo, v) - lo) / (hi - lo));
    const svg = s('svg', { viewBox: `0 0 ${W} ${H}`, class: 'ch', role: 'img', 'aria-label': 'Error along the graph' });
    for (let e = lo; e <= hi; e += 2)
      svg.append(
        s('line', { x1: L, x2: W - R, y1: y(e), y2: y(e), class: 'ax' }),
        s('text', { x: L - 8, y: y(e) + 4, 'text-anchor': 'end' }, e === lo ? '0' : '1e' + e),
      );
    const noise = A.values.map((v, i) => [L + i * cw, y(lg((v.reference_rmse || 0) * 10))]);
    let dn = `M${L} ${y(lo)}`;
    noise.forEach(([x, yy]) => {
      dn += `L${x} ${yy}L${x + cw} ${yy}`;
    });
    svg.append(
      s('path', { d: dn + `L${W - R} ${y(lo)}Z`, fill: 'var(--fg)', 'fill-opacity': 0.09 }),
    );
    A.values.forEach((v, i) => {
      const x = L + i * cw,
        w = Math.min(14, cw * 0.62),
        cx = x + cw / 2,
        c = CLOSE[closenessOf(v)][1];
      const val = v.nan ? hi : lg(v.rmse || v.max_abs || 0);
      const gr = s(
        'g',
        { style: 'cursor:pointer', onclick: () => go('accuracy=' + name + '&node=' + v.node) },
        s('rect', { x, y: T, width: cw, height: H - T - 4, fill: 'transparent' }),
        v.nan
          ? s('rect', {
              x: cx - w / 2,
              y: y(hi),
              width: w,
              height: y(lo) - y(hi),
              fill: c,
              'fill-opacity': 0.16,
              rx: 2,
            })
          : null,
        s('rect', {
          x: cx - w / 2,
          y: y(val),
          width: w,
          height: Math.max(2, y(lo) - y(val)),
          rx: 2,
          fill: c,
          'fill-opacity': v.nan ? 0.001 : 0.85,
        }),
        v.nan && cw > 44 // else they would cover each other; the tip says it
          ? s(
              'text',
              { x: cx, y: y(hi) + 15, 'text-anchor': 'middle', style: 'fill:var(--nan);font-weight:600' },
              v.nan + ' NaN',
            )
          : null,
        v.reference_rmse
          ? s('line', {
              x1: cx - w / 2 - 2,
              x2: cx + w / 2 + 2,
              y1: y(lg(v.reference_rmse)),
              y2: y(lg(v.reference_rmse)),
              stroke: 'var(--fg)',
              'stroke-width': 1.5,
            })
          : null,
        // heat strip
        s('rect', {
          x: x + 0.5,
          y: H - B + 6,
          width: cw - 1,
          height: 12,
          rx: 2,
          fill: c,
          'fill-opacity': v.nan
            ? 0.9
            : v.closeness === 'differs'
              ? 0.25 + 0.75 * Math.min(1, Math.max(0, lg(v.max_ulp || 1) / 9.4))
              : 0.12 + 0.1 * lg(1 + (v.max_ulp || 0)),
        }),
      );
      hover(
        gr,
        called(v) +
          '  ' +
          short(v.op) +
          '\nlargest error ' +
          finite(v, v.max_abs) +
          ', ' +
          sci(v.max_ulp) +
          ' ULP' +
          '\nRMSE ' +
          sci(v.rmse) +
          ', reference ' +
          sci(v.reference_rmse),
      );
      svg.append(gr);
    });
    const flag = (i, t, c, row) => {
      const x = L + i * cw;
      svg.append(
        s('line', { x1: x, x2: x, y1: 6, y2: H - B + 20, stroke: c, 'stroke-width': 1.5 }),
        s(
          'text',
          {
            x: x + (i > N * 0.6 ? -7 : 7),
            y: 10 + 13 * row,
            'text-anchor': i > N * 0.6 ? 'end' : 'start',
            style: `fill:${c};font-weight:600`,
          },
          t,
        ),
      );
    };
    if (first >= 0) flag(first, 'first wrong value: %' + A.first, 'var(--failed)', 0);
    if (born >= 0) flag(born, 'NaN born: %' + A.nan_born, 'var(--nan)', 1);
    // Below the columns: operations where there is room for them, else modules where they begin.
    const byOp = cw > 30;
    let before = null,
      end = -99;
    A.values.forEach((v, i) => {
      const n = g && g.byId[v.node],
        text = byOp ? short(v.op) + (several.has(v.node) ? '[' + v.result + ']' : '') : n && n.mod ? n.mod.split('.').slice(0, 2).join('.') : before,
        wide = text ? text.length * 6 : 0,
        from = byOp ? L + (i + 0.5) * cw - wide / 2 : L + i * cw + 1;
      if (!text || (!byOp && text === before)) return;
      before = text;
      const low = byOp && from < end;
      if (!byOp && from < end) return;
      svg.append(s('text', { x: byOp ? L + (i + 0.5) * cw : from, y: H - (low ? 0 : 12), 'text-anchor': byOp ? 'middle' : 'start' }, text));
      if (!low) end = from + wide + 6;
    });
    pg.append(
      svg,
      h(
        'div.legend',
        { style: 'padding-left:46px' },
        Object.values(CLOSE).map(([word, colour]) => h('span', h('i', { style: 'background:' + colour }), word)),
        h('span', h('i', { style: 'background:color-mix(in srgb,var(--fg) 12%,transparent)' }), 'rounding noise: ten times the reference’s error'),
        h(
          'span',
          h('i', { style: 'background:var(--fg);height:2px;vertical-align:3px;width:12px' }),
          'the reference’s own error',
        ),
        h(
          'span',
          h('i', {
            style:
              'background:linear-gradient(90deg,color-mix(in srgb,var(--failed) 25%,transparent),var(--failed));width:30px',
          }),
          'strip below: ULP',
        ),
      ),
    );
    pg.append(
      h('h2', 'Values', h('span', 'largest absolute and relative error, steps of the data type, RMSE against f64')),
    );
    const tb = h('tbody');
    for (const v of A.values) {
      const n = g && g.byId[v.node];
      const r = h(
        'tr',
        h(
          'td',
          v.nan
            ? pill('nan', (v.node === A.nan_born ? 'born: ' : '') + v.nan + ' NaN')
            : v.closeness === 'differs'
              ? pill('failed', v.node === A.first ? 'first' : 'differs')
              : '',
        ),
        h('td.m', link('graph=' + name + '&node=' + v.node, called(v))),
        h('td.m.dim', short(v.op)),
        h('td', n && n.at ? placeLink(n.at[0], name) : ''),
        h('td.m.dim', v.sizes.join('×')),
        h('td.n.m', finite(v, v.max_abs)),
        h('td.n.m', finite(v, v.max_rel)),
        h('td.n.m', finite(v, v.max_ulp)),
        h('td.n.m', finite(v, v.rmse)),
        h('td.n.m.dim', sci(v.reference_rmse)),
      );
      this.rows[v.node] = r;
      tb.append(r);
    }
    pg.append(
      h(
        'div.scroll',
        h(
        'table',
        h(
          'thead',
          h(
            'tr',
            h('th', ''),
            h('th', 'Value'),
            h('th', 'Operation'),
            h('th', 'Source'),
            h('th', 'Sizes'),
            h('th.n', { title: 'The largest error over the elements that are finite in both' }, 'Absolute'),
            h('th.n', 'Relative'),
            h('th.n', 'ULP'),
            h('th.n', 'RMSE'),
            h('th.n', 'Reference’s'),
          ),
        ),
        tb,
      )),
    );
  },
};
