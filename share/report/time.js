// What compiling and running took: a flame chart, kernels against the machine's roofline, memory over time.
const PROFILE = D.profile || { spans: [], graphs: [], kernels: [], memory: [], ops: [] };
const SPAN_COLOUR = { capture: 'var(--k5)', backend: 'var(--acc)', pass: 'var(--k2)', lowering: 'var(--k4)', kernel: 'var(--k1)' };

/** What a span is called, without the name that the program's own run gave the graph: that is told beside it. */
const spanName = (s) => (s.graph ? s.name.replace(/(^|: )graph \S+ .*$/, '') || s.kind : s.name);

V.time = {
  title: 'Time, memory',
  key: '7',
  build(el) {
    const pg = h('div.page', { style: 'max-width:1240px' });
    el.append(pg);
    this.memoryPlots = {};
    const nothing = !PROFILE.spans.length && !PROFILE.kernels.length && !PROFILE.memory.length && !PROFILE.ops.length;
    pg.append(nothing ? h('p.lead', 'Nothing was measured.') : this.lead());
    if (nothing) {
      pg.append(h('p.note', 'It is with --times, or where a backend is named: explain MODEL --backend NAME --html FILE.'));
      return;
    }
    if (PROFILE.spans.length) this.flame(pg);
    if (PROFILE.graphs.length) this.graphs(pg);
    if (PROFILE.kernels.some((k) => k.runs)) this.kernels(pg);
    if (PROFILE.memory.some((m) => m.bytes.length)) this.memory(pg);
    if (PROFILE.ops.length) this.ops(pg);
  },
  lead() {
    const capture = PROFILE.spans.filter((s) => s.kind === 'capture').reduce((sum, s) => sum + s.seconds, 0),
      kernels = PROFILE.spans.filter((s) => s.kind === 'kernel'),
      cold = kernels.filter((k) => k.from === 'compiled').length;
    if (!PROFILE.spans.length) return h('p.lead', 'What running takes.');
    return h(
      'p.lead',
      sec(D.totals.compile_seconds) + ' to compile ' + plural(D.totals.graphs, 'graph') + (D.totals.compile_backend ? ' for ' + D.totals.compile_backend : '') + '. ',
      capture ? h('span.dim', 'The calls that were captured took ' + sec(capture) + ', the program’s own work included. ') : '',
      kernels.length
        ? h('span.dim', plural(kernels.length, 'kernel') + (cold ? ', ' + cold + ' of them compiled' + (cold < kernels.length ? ', the others from the cache.' : '.') : ', all from the cache.'))
        : '',
    );
  },
  /** Spans by thread, those inside of others below them. Ctrl and the wheel zooms, a click zooms to a span. */
  flame(pg) {
    const rows = [],
      threads = [...new Set(PROFILE.spans.map((s) => s.thread || 0))].sort((a, b) => a - b);
    let base = 0;
    for (const thread of threads) {
      const open = [];
      let deepest = 0;
      for (const s of PROFILE.spans.filter((s) => (s.thread || 0) === thread)) {
        while (open.length && open[open.length - 1].start + open[open.length - 1].seconds <= s.start + 1e-9) open.pop();
        rows.push([s, base + open.length]);
        deepest = Math.max(deepest, open.length + 1);
        open.push(s);
      }
      base += deepest + 0.4;
    }
    const end = Math.max(...PROFILE.spans.map((s) => s.start + s.seconds), 1e-6);
    const axis = h('div.axis'),
      box = h('div.flame', { tabindex: 0, role: 'img', 'aria-label': 'Compile time: the table below has the same' });
    box.style.height = base * 24 + 12 + 'px';
    // What compiling for the page's backend took; Esc shows the run before it, too.
    const wanted = PROFILE.spans.filter((s) => s.kind === 'backend' && D.totals.compile_backend && s.name === D.totals.compile_backend);
    let from = wanted.length ? Math.min(...wanted.map((s) => s.start)) : 0,
      to = end;
    const draw = () => {
      const width = box.clientWidth || 1100,
        scale = width / (to - from);
      box.replaceChildren();
      axis.replaceChildren();
      const step = [1e-4, 5e-4, 1e-3, 5e-3, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60].find((s) => s * scale > 80) || 600;
      for (let t = Math.ceil(from / step) * step; t <= to; t += step)
        if ((t - from) * scale < width - 40) axis.append(h('span', { style: 'left:' + (t - from) * scale + 'px' }, sec(t)));
      for (const [s, depth] of rows) {
        const x = (s.start - from) * scale,
          w = s.seconds * scale;
        if (x > width || x + w < 0 || w < 0.4) continue;
        const left = Math.max(0, x),
          right = Math.min(width, x + w);
        const e = h(
          'div.sp' + (s.from && s.from !== 'compiled' ? '.kept' : ''),
          {
            style: `left:${left}px;width:${Math.max(1.5, right - left)}px;top:${depth * 24 + 6}px;--hc:${SPAN_COLOUR[s.kind]}`,
            onclick: () => zoom(s.start - s.seconds * 0.02, s.start + s.seconds * 1.02),
          },
          right - left > 30 ? spanName(s) + (right - left > 130 ? ' · ' + sec(s.seconds) : '') : '',
        );
        box.append(
          hover(e, s.kind + ' ' + spanName(s) + '\n' + sec(s.seconds) + (s.from ? ', ' + s.from : '') + (s.graph ? '\nof ' + s.graph : '')),
        );
      }
    };
    const zoom = (a, b) => {
      from = Math.max(0, a);
      to = Math.min(end, b);
      draw();
    };
    this.reset = () => zoom(0, end);
    this.draw = draw;
    box.ondblclick = this.reset;
    box.onkeydown = (e) => {
      const span = to - from;
      if (e.key === '+') zoom(from + span / 4, to - span / 4);
      else if (e.key === '-') zoom(from - span / 2, to + span / 2);
      else if (e.key === 'ArrowLeft' && from > 0) zoom(from - span / 8, to - span / 8);
      else if (e.key === 'ArrowRight' && to < end) zoom(from + span / 8, to + span / 8);
    };
    box.addEventListener(
      'wheel',
      (e) => {
        if (!e.ctrlKey && !e.metaKey) return;
        e.preventDefault();
        const at = from + ((to - from) * e.offsetX) / box.clientWidth,
          f = Math.exp(e.deltaY * 0.002);
        zoom(at - (at - from) * f, at + (to - at) * f);
      },
      { passive: false },
    );
    pg.append(
      h('h2', 'Compile time', h('span', (wanted.length ? 'for ' + D.totals.compile_backend + '; ' : '') + 'click a span to zoom in, Esc or a double click to see the whole run; + − ← → by keyboard')),
      axis,
      box,
      h(
        'div.legend',
        Object.entries(SPAN_COLOUR).map(([kind, colour]) => h('span', h('i', { style: 'background:' + colour }), kind)),
        h('span', h('i', { style: 'border:1.5px dashed var(--fg3)' }), 'from the cache'),
      ),
      h(
        'details',
        h('summary', 'as a table'),
        rowsTable(
          ['#Start', '#Took', 'Kind', 'What', 'Graph', 'Code'],
          PROFILE.spans.map((s) => [sec(s.start), sec(s.seconds), s.kind, spanName(s), s.graph && G[s.graph] ? link('graph=' + s.graph, s.graph) : s.graph || '', s.from || '']),
        ),
      ),
    );
    new ResizeObserver(draw).observe(box);
  },
  graphs(pg) {
    pg.append(
      h('h2', 'Graphs on ' + PROFILE.backend),
      rowsTable(
        ['Graph', '#Compiled in', '#Runs in', '#Runs measured', ''],
        PROFILE.graphs.map((g) => [
          G[g.graph] ? link('graph=' + g.graph, h('span.m', g.graph)) : g.graph,
          g.failure ? '' : sec(g.compile_seconds),
          g.failure ? '' : sec(g.seconds),
          g.failure ? '' : nf(g.runs),
          g.failure ? h('span.s-failed', pill('failed', g.failure)) : '',
        ]),
      ),
    );
  },
  kernels(pg) {
    const list = PROFILE.kernels.filter((k) => k.runs).sort((a, b) => b.seconds - a.seconds),
      all = list.reduce((sum, k) => sum + k.seconds, 0) || 1,
      M = PROFILE.machine,
      inCache = M && list.some((k) => k.roofline > 1 && k.bytes / M.bytes_per_second >= k.flops / M.flops_per_second);
    pg.append(
      h(
        'h2',
        'Kernels',
        h(
          'span',
          M
            ? `slowest first; this machine: ${(M.flops_per_second / 1e9).toPrecision(3)} GFLOP/s, ${(M.bytes_per_second / 1e9).toPrecision(3)} GB/s on ${plural(M.threads, 'thread')}${inCache ? '; above 100 % where memory is the limit: the data lie in a cache' : ''}`
            : 'slowest first',
        ),
      ),
      rowsTable(
        ['Kernel', 'Computes', '#Time', '#Share', '#FLOP', '#Bytes', '#Speed', '#Roofline'],
        list.map((k) => [
          link('source=' + encodeURIComponent(k.graph) + '&kernel=' + k.name + '&stage=' + (k.stages.length - 1), h('span.m', (PROFILE.graphs.length > 1 ? k.graph + '.' : '') + k.name)),
          h('span.m.dim', k.nodes.slice(0, 4).map((n, i) => [i ? ', ' : '', link('graph=' + k.graph + '&node=' + n, '%' + n)]), k.nodes.length > 4 ? ' and ' + (k.nodes.length - 4) + ' more' : ''),
          sec(k.seconds),
          percent(k.seconds / all),
          nf(k.flops),
          bytes(k.bytes),
          rate(k),
          percent(k.roofline),
        ]),
        20,
      ),
    );
  },
  memory(pg) {
    const known = PROFILE.memory.filter((m) => m.bytes.length),
      box = h('div.two'),
      sel = h('select.btn', { 'aria-label': 'Graph', onchange: () => this.plot(box, known[sel.selectedIndex]) }, known.map((m) => h('option', m.graph)));
    pg.append(h('h2', { style: 'align-items:center' }, 'Memory over', sel, h('span', 'without parameters')), box);
    this.plot(box, known.reduce((a, b) => (b.peak > a.peak ? b : a)));
    sel.selectedIndex = known.findIndex((m) => m.graph === this.memoryOf);
    pg.append(
      h(
        'details',
        h('summary', 'the peaks as a table'),
        rowsTable(
          ['Graph', '#Peak', 'At', 'How', '#Parameters'],
          known.map((m) => [m.graph, bytes(m.peak), '%' + m.peak_at, m.how === 'measured' ? 'measured' : 'computed by liveness', bytes(m.parameter_bytes)]),
        ),
      ),
    );
  },
  plot(box, m) {
    this.memoryOf = m.graph;
    const N = m.bytes.length,
      W = 840,
      H = 236,
      L = 62,
      R = 12,
      B = 26,
      most = Math.max(1, m.peak) * 1.13;
    const x = (i) => L + ((W - L - R) * i) / N,
      y = (v) => 8 + (H - 8 - B) * (1 - v / most);
    const svg = s('svg', { viewBox: `0 0 ${W} ${H}`, class: 'ch', role: 'img', 'aria-label': `Memory over ${m.graph}: its peak is ${bytes(m.peak)} at %${m.peak_at}` });
    for (let i = 0; i <= 4; i++) {
      const v = (m.peak * i) / 4;
      svg.append(s('line', { x1: L, x2: W - R, y1: y(v), y2: y(v), class: 'ax' }), s('text', { x: L - 8, y: y(v) + 4, 'text-anchor': 'end' }, bytes(Math.round(v))));
    }
    let d = `M${L} ${y(0)}`;
    m.bytes.forEach((v, i) => (d += `L${x(i).toFixed(1)} ${y(v).toFixed(1)}L${x(i + 1).toFixed(1)} ${y(v).toFixed(1)}`));
    svg.append(s('path', { d: d + `L${x(N)} ${y(0)}Z`, fill: 'var(--acc)', 'fill-opacity': 0.14, stroke: 'var(--acc)', 'stroke-width': N > 400 ? 0.8 : 1.5 }));
    const at = m.bytes.indexOf(m.peak),
      late = at > N * 0.7;
    svg.append(
      s('circle', { cx: x(at + 0.5), cy: y(m.peak), r: 4, fill: 'var(--acc)' }),
      s('text', { x: x(at + 0.5) + (late ? -9 : 9), y: y(m.peak) - 4, class: 'hi', 'text-anchor': late ? 'end' : 'start' }, 'peak ' + bytes(m.peak) + ' at %' + m.peak_at),
    );
    svg.onclick = (e) => {
      const r = svg.getBoundingClientRect(),
        i = Math.floor(((((e.clientX - r.left) / r.width) * W - L) / (W - L - R)) * N);
      if (m.at[i] && G[m.graph] && G[m.graph].byId[m.at[i]]) go('graph=' + m.graph + '&node=' + m.at[i]);
    };
    hover(svg, '');
    svg.onmousemove = (e) => {
      const r = svg.getBoundingClientRect(),
        i = Math.floor(((((e.clientX - r.left) / r.width) * W - L) / (W - L - R)) * N);
      if (!m.at[i]) return;
      tip.textContent = '%' + m.at[i] + '\n' + bytes(m.bytes[i]);
      tip.style.display = 'block';
      tip.style.left = Math.min(e.clientX + 14, innerWidth - tip.offsetWidth - 8) + 'px';
      tip.style.top = e.clientY + 16 + 'px';
    };
    const all = m.alive.reduce((sum, v) => sum + v.bytes, 0) || 1;
    box.replaceChildren(
      h(
        'div',
        svg,
        h('p.note', m.how === 'measured' ? 'Measured: what the run held after each step.' : 'Computed by liveness: each value from its operation to its last reader.', m.parameter_bytes ? ' Parameters: ' + bytes(m.parameter_bytes) + '.' : ''),
      ),
      h(
        'div',
        h('p', { style: 'font-weight:600;margin-bottom:6px' }, bytes(m.peak) + ' alive at the peak'),
        m.alive.slice(0, 10).map((v) =>
          h('div.lkr', link('graph=' + m.graph + '&node=' + v.value, '%' + v.value), h('span', h('i.bar', { style: `background:var(--acc);opacity:.5;width:${Math.max(1, (60 * v.bytes) / all)}px` }), bytes(v.bytes))),
        ),
        m.alive.length > 10 ? h('p.note', 'and ' + (m.alive.length - 10) + ' more') : '',
      ),
    );
  },
  ops(pg) {
    const frames = [...new Set(PROFILE.ops.map((o) => o.frame))];
    for (const frame of frames) {
      const ops = PROFILE.ops.filter((o) => o.frame === frame),
        all = ops.reduce((sum, o) => sum + o.seconds, 0) || 1;
      pg.append(
        h('h2', 'Operations of ', h('span.m', frame), h('span', sec(all) + ', as LibTorch ran them')),
        rowsTable(['Operation', '#Calls', '#Time', '#Share'], ops.map((o) => [h('span.m', o.op), nf(o.calls), sec(o.seconds), percent(o.seconds / all)]), 12),
      );
    }
  },
  esc() {
    this.reset && this.reset();
  },
  show() {
    this.draw && requestAnimationFrame(this.draw);
  },
};
