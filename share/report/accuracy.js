// The error of each value against the reference, along the graph.
V.accuracy = {
  title: 'Accuracy',
  key: '6',
  build(el) {
    this.pg = h('div.page', { style: 'max-width:1240px' });
    el.append(this.pg);
  },
  show(p) {
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
  draw(name) {
    this.name = name;
    this.rows = {};
    this.jump = false;
    this.selRow = null;
    const A = D.accuracy[name],
      pg = this.pg,
      g = G[name];
    pg.replaceChildren();
    const sel = h(
      'select.btn',
      { 'aria-label': 'Graph', onchange: () => go('accuracy=' + sel.value) },
      Object.keys(D.accuracy).map((n) => h('option', { selected: n === name }, n)),
    );
    const nd = A.values.filter((v) => v.closeness === 'differs').length,
      first = A.values.findIndex((v) => v.node === A.first),
      born = A.values.findIndex((v) => v.node === A.nan_born);
    pg.append(
      h(
        'p.lead.s-' + (A.first ? 'failed' : A.nan_born ? 'nan' : 'ok'),
        A.first
          ? [
              h('b', '%' + A.first),
              ' is the first wrong value. ',
              h(
                'span.dim',
                'The ' +
                  first +
                  ' before it are right up to rounding; of ' +
                  A.values.length +
                  ' values ' +
                  nd +
                  ' differ.',
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
    if (A.message) pg.append(h('p.note', { style: 'margin-top:8px' }, A.message));
    pg.append(
      h(
        'h2',
        { style: 'align-items:center' },
        'Error along',
        sel,
        h('span', 'root mean square against the same graph in f64, one column a value'),
      ),
    );
    const N = A.values.length,
      W = 1160,
      H = 262,
      L = 46,
      R = 8,
      T = 26,
      B = 44,
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
      s('path', { d: dn + `L${W - R} ${y(lo)}Z`, fill: 'var(--fg)', 'fill-opacity': 0.05 }),
      s('text', { x: L + 5, y: Math.min(...noise.slice(0, 12).map((n) => n[1])) - 6 }, N > 20 ? 'rounding noise' : ''),
    );
    A.values.forEach((v, i) => {
      const x = L + i * cw,
        w = Math.min(14, cw * 0.62),
        cx = x + cw / 2,
        c = v.nan ? 'var(--nan)' : v.closeness === 'differs' ? 'var(--failed)' : 'var(--k2)';
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
          fill: v.nan ? 'var(--nan)' : v.closeness === 'differs' ? 'var(--failed)' : 'var(--k2)',
          'fill-opacity': v.nan
            ? 0.9
            : v.closeness === 'differs'
              ? 0.25 + 0.75 * Math.min(1, Math.max(0, lg(v.max_ulp || 1) / 9.4))
              : 0.12 + 0.1 * lg(1 + (v.max_ulp || 0)),
        }),
      );
      hover(
        gr,
        '%' +
          v.node +
          '  ' +
          short(v.op) +
          '\nlargest error ' +
          sci(v.max_abs) +
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
    let lm = null,
      lastx = -99;
    A.values.forEach((v, i) => {
      const n = g.byId[v.node],
        q = n && n.mod ? n.mod.split('.').slice(0, 2).join('.') : N < 30 ? short(v.op) : lm;
      if (q !== lm && q) {
        const x = L + i * cw;
        if (x - lastx > 46) {
          svg.append(s('text', { x: x + 1, y: H - 6 }, q));
          lastx = x;
        }
        lm = q;
      }
    });
    pg.append(
      svg,
      h(
        'div.legend',
        { style: 'padding-left:46px' },
        h('span', h('i', { style: 'background:var(--k2)' }), 'right up to rounding'),
        h('span', h('i', { style: 'background:var(--failed)' }), 'differs'),
        h('span', h('i', { style: 'background:var(--nan)' }), 'NaN'),
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
      h(
        'div',
        { style: 'max-width:560px;margin:-2px 0 12px' },
        cmd('explain ' + D.model + (g.record ? '/' + g.record : '') + ' --backend ' + D.backend + ' --divergence -v'),
      ),
    );
    const tb = h('tbody');
    for (const v of A.values) {
      const n = g.byId[v.node];
      const r = h(
        'tr',
        h(
          'td',
          v.nan
            ? pill('nan', v.node === A.nan_born ? 'born' : 'NaN')
            : v.closeness === 'differs'
              ? pill('failed', v.node === A.first ? 'first' : 'differs')
              : '',
        ),
        h('td.m', link('graph=' + name + '&node=' + v.node, '%' + v.node)),
        h('td.m.dim', short(v.op)),
        h('td.m.dim', v.sizes.join('×')),
        h('td.n.m', sci(v.max_abs)),
        h('td.n.m', sci(v.max_rel)),
        h('td.n.m', sci(v.max_ulp)),
        h('td.n.m', sci(v.rmse)),
        h('td.n.m.dim', sci(v.reference_rmse)),
        h('td', { style: 'padding-left:16px' }, n && n.at ? placeLink(n.at[0], name) : ''),
      );
      this.rows[v.node] = r;
      tb.append(r);
    }
    pg.append(
      h(
        'table',
        h(
          'thead',
          h(
            'tr',
            h('th', ''),
            h('th', 'Value'),
            h('th', 'Operation'),
            h('th', 'Sizes'),
            h('th.n', 'Absolute'),
            h('th.n', 'Relative'),
            h('th.n', 'ULP'),
            h('th.n', 'RMSE'),
            h('th.n', 'Reference’s'),
            h('th', { style: 'padding-left:16px' }, 'Source'),
          ),
        ),
        tb,
      ),
    );
  },
};
