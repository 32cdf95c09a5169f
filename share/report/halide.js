// The schedule of a program that uses Halide: directives, pipelines with their loops, and times.
import { D, go } from './data.js';
import { code, h, link, placeLink, rowsTable } from './elements.js';
import { concerns, dependents, loopLines, needsOf } from './schedule.js';
import { nf, plural, sec } from './words.js';

const numberLinks = (numbers) => numbers.map((n, i) => [i ? ', ' : '', link('halide=' + n, String(n))]);
const ACTION = { lowered: 'lowered', compiled: 'compiled', ran: 'run' };

export const halide = {
  title: 'Halide schedule',
  label: 'Schedule',
  key: 'h',
  build(el) {
    const S = (this.S = D.halide),
      pg = h('div.page', { style: 'max-width:1240px' });
    el.append(pg);
    this.rows = new Map();
    pg.append(
      h('p.lead', plural(S.directives.length, 'directive') + ', ' + plural(S.pipelines.length, 'pipeline') + '.'),
      S.error ? h('p.lead.s-failed', { style: 'font-size:15px' }, h('b', 'Halide reports: '), S.error) : '',
      S.notes.map((text) => h('p.note', text)),
    );
    if (S.pipelines.length) this.loops(pg);
    if (S.directives.length) this.directives(pg);
    for (const pipeline of S.pipelines) this.funcs(pg, pipeline);
    if (S.steps.length) this.times(pg);
  },
  directives(pg) {
    const { directives } = this.S,
      users = dependents(directives);
    const about = 'in the order of the calls; a directive needs the directives that make its Func, or the loops in its arguments';
    const table = rowsTable(
      ['#No.', 'Directive', 'Place', 'Needs', 'Needed by'],
      directives.map((d) => [
        link('halide=' + d.number, String(d.number)),
        h('span.m', d.text),
        d.place ? placeLink(d.place) : h('span.place', d.address || ''),
        numberLinks(needsOf(d)),
        numberLinks(users.get(d.number)),
      ]),
      directives.length,
    );
    directives.forEach((d, i) => this.rows.set(d.number, table.tBodies[0].rows[i]));
    pg.append(h('h2', 'Directives', h('span', about)), table);
  },
  /** Source and loops side by side: a line of either lights what it stands for in the other. */
  loops(pg) {
    const names = this.S.pipelines.map((p, i) => i + 1 + ': ' + p.entry + ', ' + plural(p.funcs.length, 'Func')),
      chosen = h(
        'select.btn',
        { 'aria-label': 'Pipeline', onchange: () => this.fill(chosen.selectedIndex) },
        names.map((name) => h('option', name)),
      );
    this.chosen = chosen;
    this.panes = h('div.four.plain', {
      style: 'display:grid;height:60vh;border:1px solid var(--line);border-radius:8px;overflow:hidden',
    });
    pg.append(
      h('h2', { style: 'align-items:center' }, 'Loops of', chosen, h('span', 'a color for each Func; click a line')),
      this.panes,
    );
    this.fill(0);
  },
  pane(title, sub) {
    const bd = h('div.bd', { tabindex: 0, 'aria-label': title });
    this.panes.append(h('section.pane', h('header', title, h('span', sub)), bd));
    return bd;
  },
  fill(i) {
    const pipeline = this.S.pipelines[i],
      hue = new Map(pipeline.funcs.map((f, k) => [f.name, 'var(--k' + ((k % 6) + 1) + ')']));
    Object.assign(this, { shown: i, hue, sources: new Map(), lines: [] });
    this.panes.replaceChildren();
    const own = this.S.directives.filter((d) => hue.has(d.func)),
      files = own.filter((d) => d.place).map((d) => d.place[0]),
      file = files.length ? files[0] : null;
    const F = file == null ? null : D.files[file];
    this.left = this.pane('Source', F ? F.path : '');
    if (F && F.lines.some(Boolean)) this.fillSource(F.lines, own.filter((d) => d.place && d.place[0] === file));
    else this.fillDirectives(own);
    this.right = this.pane('Loops', 'as Halide lowers the pipeline');
    this.fillLoops(pipeline, own);
  },
  line(number, directives, ...content) {
    const color = directives.length ? this.hue.get(directives[0].func) : null,
      e = h('div.ln' + (color ? '.h' : ''), { style: color ? '--hc:' + color : '' }, h('i', String(number)), content);
    if (directives.length) e.onclick = () => go('halide=' + directives[0].number);
    return e;
  },
  fillSource(texts, directives) {
    texts.forEach((text, i) => {
      const here = directives.filter((d) => d.place[1] === i + 1),
        e = this.line(i + 1, here, code(text));
      for (const d of here) this.sources.set(d.number, e);
      this.left.append(e);
    });
    const first = this.left.querySelector('.ln.h');
    if (first) this.left.scrollTop = Math.max(0, first.offsetTop - this.left.offsetTop - 60);
  },
  fillDirectives(directives) {
    for (const d of directives) {
      const e = this.line(d.number, [d], d.text);
      this.sources.set(d.number, e);
      this.left.append(e);
    }
  },
  fillLoops(pipeline, directives) {
    loopLines(pipeline).forEach((line, i) => {
      const about = directives.filter((d) => concerns(d, line)),
        any = about.length ? about : directives.filter((d) => d.func === line.func),
        e = this.line(i + 1, any, line.text);
      this.lines.push([line, e]);
      this.right.append(e);
    });
  },
  funcs(pg, pipeline) {
    const where = (f) =>
      f.external ? 'by the external function ' + f.external : f.compute + (f.store === f.compute || f.store === 'inlined' ? '' : ', stored at ' + f.store);
    const loops = (d) => (d.loops.length ? h('div.dim', 'loops: ' + d.loops.join(', ')) : '');
    pg.append(
      h('h2', 'Pipeline of ' + pipeline.entry, h('span', 'Funcs, where they are computed, and their definitions')),
      rowsTable(
        ['Func', 'Computed at', 'Definitions'],
        pipeline.funcs.map((f) => [
          h('span.m', f.name),
          where(f),
          f.definitions.map((d) => h('div.m', { style: 'overflow-wrap:anywhere' }, d.text, d.domains.map((text) => h('div.dim', text)), loops(d))),
        ]),
      ),
    );
  },
  times(pg) {
    pg.append(
      h('h2', 'Times', h('span', 'running includes compiling, where the call compiles')),
      rowsTable(
        ['Call', 'Action', '#Times', '#Total'],
        this.S.steps.map((step) => [h('span.m', step.entry), ACTION[step.kind], nf(step.count), sec(step.seconds)]),
      ),
    );
  },
  show(p) {
    const d = this.S.directives.find((one) => one.number === +p.halide);
    for (const row of this.rows.values()) row.classList.remove('lit');
    if (!this.panes) return;
    if (d && !this.hue.has(d.func)) {
      const other = this.S.pipelines.findIndex((pipeline) => pipeline.funcs.some((f) => f.name === d.func));
      if (other >= 0) this.fill((this.chosen.selectedIndex = other));
    }
    for (const e of this.panes.querySelectorAll('.lit,.lit2,.sel')) e.classList.remove('lit', 'lit2', 'sel');
    this.panes.classList.toggle('fadeall', !!d);
    if (!d) return;
    const row = this.rows.get(d.number),
      source = this.sources.get(d.number);
    if (row) row.classList.add('lit');
    if (source) source.classList.add('lit', 'sel');
    for (const [line, e] of this.lines) if (line.func === d.func) e.classList.add(concerns(d, line) ? 'lit' : 'lit2');
    this.panes.scrollIntoView({ block: 'nearest' });
    this.scroll(this.left, source);
    this.scroll(this.right, this.right.querySelector('.lit') || this.right.querySelector('.lit2'));
  },
  scroll(pane, e) {
    if (e) pane.scrollTop = Math.max(0, e.offsetTop - pane.offsetTop - pane.clientHeight / 4);
  },
};
