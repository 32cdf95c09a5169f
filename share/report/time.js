// What compiling and running took: its spans, kernels against the machine's roofline, memory over time.
import { D, G, PROFILE, go, stageHash } from './data.js';
import { cmd, h, hover, link, pill, rowsTable, s } from './elements.js';
import { rate } from './kernels.js';
import { bytes, listed, nf, percent, plural, sec, shownOf } from './words.js';

/** What a span is called, without the name that the program's own run gave the graph: that is told beside it. */
const spanName = ({ name, kind, graph }) => (graph ? name.replace(/(^|: )graph \S+ .*$/, '') || kind : name);

export const time = {
  title: 'Time, memory',
  key: '7',
  build(el) {
    const pg = h('div.page', { style: 'max-width:1240px' });
    el.append(pg);
    const nothing = !PROFILE.spans.length && !PROFILE.kernels.length && !PROFILE.memory.length && !PROFILE.ops.length;
    pg.append(nothing ? h('p.lead', 'Nothing was measured.') : this.lead());
    if (nothing) {
      pg.append(h('p.note', 'Measure with --times or with a backend: explain MODEL --backend NAME --html FILE.'));
      return;
    }
    if (PROFILE.spans.length) this.spans(pg);
    if (PROFILE.graphs.length) this.graphs(pg);
    if (PROFILE.kernels.some((k) => k.runs)) this.kernels(pg);
    if (PROFILE.memory.some((m) => m.bytes.length)) this.memory(pg);
    if (PROFILE.ops.length) this.ops(pg);
  },
  lead() {
    const of = (kind) => PROFILE.spans.filter((span) => span.kind === kind),
      capture = of('capture').reduce((sum, span) => sum + span.seconds, 0),
      kernels = of('kernel'),
      cold = kernels.filter((k) => k.from === 'compiled').length;
    if (!PROFILE.spans.length) return h('p.lead', 'Run times.');
    return h(
      'p.lead',
      sec(D.totals.compile_seconds) + ' to compile ' + plural(D.totals.graphs, 'graph') + (D.totals.compile_backend ? ' for ' + D.totals.compile_backend : '') + '. ',
      capture ? h('span.dim', 'The captured calls took ' + sec(capture) + ', including the program’s own work. ') : '',
      kernels.length
        ? h('span.dim', plural(kernels.length, 'kernel') + (cold ? ', ' + cold + ' of them compiled' + (cold < kernels.length ? ', the others from the cache.' : '.') : ', all from the cache.'))
        : '',
    );
  },
  /** What took how long, slowest first. What ran inside of what, and on which thread, Perfetto shows. */
  spans(pg) {
    const slowest = [...PROFILE.spans].sort((a, b) => b.seconds - a.seconds);
    const row = ({ kind, graph, from, start, seconds }, what) =>
      [what, kind, graph ? this.graph(graph) : '', from || '', sec(start), sec(seconds)];
    pg.append(
      h('h2', 'Compile time', h('span', 'slowest first; the time of a span includes the spans inside it')),
      rowsTable(['What', 'Kind', 'Graph', 'Code', '#Start', '#Duration'], slowest.map((span) => row(span, spanName(span))), 12),
    );
    if (!D.timeline) return;
    const perfetto = 'Perfetto (ui.perfetto.dev) shows the spans on a timeline of each thread. This command writes the file for Perfetto:';
    pg.append(h('p.note', { style: 'margin:10px 0 6px' }, perfetto), h('div', { style: 'max-width:760px' }, cmd(D.timeline)));
  },
  graph: (name) => (G[name] ? link('graph=' + name, h('span.m', name)) : name),
  graphs(pg) {
    pg.append(
      h('h2', 'Graphs on ' + PROFILE.backend),
      rowsTable(
        ['Graph', '#Compiled in', '#Runs in', '#Runs measured', ''],
        PROFILE.graphs.map((g) => [
          this.graph(g.graph),
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
            ? `slowest first; peak of this machine: ${(M.flops_per_second / 1e9).toPrecision(3)} GFLOP/s, ${(M.bytes_per_second / 1e9).toPrecision(3)} GB/s on ${plural(M.threads, 'thread')}${inCache ? '; a memory-bound kernel above 100 % reads from a cache' : ''}`
            : 'slowest first',
        ),
      ),
      rowsTable(
        ['Kernel', 'Computes', '#Time', '#Share', '#FLOP', '#Bytes', '#Speed', '#Roofline'],
        list.map((k) => [
          link(stageHash(k, k.stages.length - 1), h('span.m', (PROFILE.graphs.length > 1 ? k.graph + '.' : '') + k.name)),
          h('span.m.dim', listed(k.nodes.map((n) => link('graph=' + k.graph + '&node=' + n, '%' + n)), 4)),
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
        h('summary', 'peaks as a table'),
        rowsTable(
          ['Graph', '#Peak', 'At', 'How', '#Parameters'],
          known.map((m) => [m.graph, bytes(m.peak), '%' + m.peak_at, m.how === 'measured' ? 'measured' : 'computed from liveness', bytes(m.parameter_bytes)]),
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
    const valueAt = (e) => {
      const r = svg.getBoundingClientRect();
      const i = Math.floor(((((e.clientX - r.left) / r.width) * W - L) / (W - L - R)) * N);
      return { id: m.at[i], held: m.bytes[i] };
    };
    svg.onclick = (e) => {
      const { id } = valueAt(e);
      if (id && G[m.graph] && G[m.graph].byId[id]) go('graph=' + m.graph + '&node=' + id);
    };
    hover(svg, (e) => {
      const { id, held } = valueAt(e);
      return id && '%' + id + '\n' + bytes(held);
    });
    const all = m.alive.reduce((sum, v) => sum + v.bytes, 0) || 1,
      shown = shownOf(m.alive.length, 10);
    box.replaceChildren(
      h(
        'div',
        svg,
        h('p.note', m.how === 'measured' ? 'Measured: the memory held after each step of the run.' : 'Computed from liveness: each value is held from its operation to its last reader.', m.parameter_bytes ? ' Parameters: ' + bytes(m.parameter_bytes) + '.' : ''),
      ),
      h(
        'div',
        h('p', { style: 'font-weight:600;margin-bottom:6px' }, bytes(m.peak) + ' live at the peak'),
        m.alive.slice(0, shown).map((v) =>
          h('div.lkr', link('graph=' + m.graph + '&node=' + v.value, '%' + v.value), h('span', h('i.bar', { style: `background:var(--acc);opacity:.5;width:${Math.max(1, (60 * v.bytes) / all)}px` }), bytes(v.bytes))),
        ),
        m.alive.length > shown ? h('p.note', 'and ' + nf(m.alive.length - shown) + ' more') : '',
      ),
    );
  },
  ops(pg) {
    const frames = [...new Set(PROFILE.ops.map((o) => o.frame))];
    for (const frame of frames) {
      const ops = PROFILE.ops.filter((o) => o.frame === frame),
        all = ops.reduce((sum, o) => sum + o.seconds, 0) || 1;
      pg.append(
        h('h2', 'Operations of ', h('span.m', frame), h('span', sec(all) + ', measured in LibTorch')),
        rowsTable(['Operation', '#Calls', '#Time', '#Share'], ops.map((o) => [h('span.m', o.op), nf(o.calls), sec(o.seconds), percent(o.seconds / all)]), 12),
      );
    }
  },
};
