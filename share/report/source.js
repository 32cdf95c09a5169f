// Source, graph, loop nest and assembly side by side: a line of any lights what it stands for in the others.
import { D, G, codeOf, go, guiltyPart, kernelsOf, mainGraph, sourceHash, stageHash } from './data.js';
import { code, h, icon, pill } from './elements.js';
import { assemblyLines, nestLines, partKey, partsByNode, rate } from './kernels.js';
import { plural, sec, short } from './words.js';

/** A line of a pane: with a color it can be chosen. */
const lineOf = (color, bad, number, ...content) =>
  h(
    'div.ln' + (color ? '.h' : '') + (bad ? '.bad' : ''),
    { style: color ? '--hc:' + color : '' },
    h('i', String(number)),
    content,
  );

export const source = {
  title: 'Source',
  key: '3',
  fill: true,
  most: 6, // kernels whose code is shown at a time
  build(el) {
    el.classList.add('four');
    this.el = el;
  },
  pane(title, sub) {
    const bd = h('div.bd', { tabindex: 0, 'aria-label': title }),
      head = h('span', sub);
    this.el.append(h('section.pane', h('header', title, head), bd));
    bd.sub = head;
    return bd;
  },
  /** The panes of one graph and one file. */
  fillPanes(g, file) {
    Object.assign(this, { g, file, lines: new Map(), ops: new Map(), parts: new Map(), shown: '' });
    this.kernels = kernelsOf(g);
    this.byNode = partsByNode(this.kernels);
    this.hue = new Map(this.kernels.map((k, i) => [k.name, 'var(--k' + ((i % 6) + 1) + ')']));
    this.wrong = g && D.accuracy[g.name] && D.accuracy[g.name].first ? g.byId[D.accuracy[g.name].first] : null;
    this.el.replaceChildren();
    const F = D.files[file],
      left = this.pane('Source', F ? F.path : 'no source'),
      right = this.pane('Graph', g ? g.name + ' · ' + plural(g.ops, 'op') : '');
    left.parentElement.classList.add('text');
    this.panes = [left, right];
    if (this.kernels.some((k) => codeOf(k).loop_nest))
      this.panes.push(this.pane('Loops', plural(this.kernels.length, 'kernel')), this.pane('Assembly', ''));
    this.el.classList.toggle('plain', this.panes.length === 2);
    // Of a model file there are no lines, and more room for the rest.
    this.el.classList.toggle('bare', !F && this.panes.length > 2);
    if (F) this.fillLines(left, F.lines);
    if (g) this.fillOps(right);
  },
  fillLines(pane, texts) {
    const { g, file, wrong } = this,
      wrongLine = wrong && wrong.at && wrong.at[0][0] === file ? wrong.at[0][1] : 0,
      color = new Map();
    for (const n of g ? g.nodes : [])
      for (const [where, number] of n.at || [])
        if (where === file && !color.has(number)) color.set(number, this.color(n));
    texts.forEach((text, i) => {
      const number = i + 1,
        bad = number === wrongLine;
      const mark = bad ? h('span.wrong', pill('failed', 'first wrong: ' + short(wrong.op))) : '';
      const e = lineOf(color.get(number), bad, number, code(text), mark);
      if (color.has(number)) e.onclick = () => go(sourceHash([file, number], g.name));
      this.lines.set(number, e);
      pane.append(e);
    });
  },
  fillOps(pane) {
    for (const n of this.g.nodes) {
      const text =
        n.kind === 'op'
          ? ['%' + n.id, h('span.dim', ' = '), short(n.op), h('span.dim', n.text.slice(n.text.indexOf('(')))]
          : n.text;
      const bad = n === this.wrong,
        color = n.at || this.byNode.has(n.id) ? this.color(n) : null;
      const e = lineOf(color, bad, n.i, bad ? [icon('failed', 12), ' '] : '', text);
      e.onclick = () => go('source=' + encodeURIComponent(this.g.name) + '&node=' + n.id);
      this.ops.set(n.id, e);
      pane.append(e);
    }
  },
  /** One hue a kernel. */
  color(n) {
    const parts = this.byNode.get(n.id);
    return parts ? this.hue.get(parts[0][0].name) : 'var(--acc)';
  },
  /** The code of these kernels in the two panes on the right. */
  fillCode(kernels) {
    const names = kernels.map((k) => k.name).join(', ');
    if (this.panes.length < 4 || this.shown === names) return;
    this.shown = names;
    this.parts = new Map();
    const [, , nest, assembly] = this.panes;
    nest.replaceChildren();
    assembly.replaceChildren();
    const guilty = (D.minify || []).map(guiltyPart).filter(Boolean);
    for (const k of kernels.slice(0, this.most)) {
      const wrong = guilty.find(([x]) => x === k);
      this.fillKernel(nest, k, nestLines(codeOf(k)), wrong && wrong[1]);
      this.fillKernel(assembly, k, assemblyLines(codeOf(k)));
      if (k.cut) assembly.append(h('div.ln.dim', h('i', ''), '… truncated'));
    }
    const some = kernels.length > this.most;
    nest.sub.textContent = some
      ? 'the first ' + this.most + ' of ' + kernels.length
      : names + ' of ' + plural(this.kernels.length, 'kernel');
    assembly.sub.textContent = 'as executed';
  },
  /** `wrong`: the stage whose schedule is guilty. */
  fillKernel(pane, k, lines, wrong) {
    const about = [k.runs && sec(k.seconds), rate(k), k.code_of && 'same code as ' + k.code_of].filter(Boolean).join(' · ');
    pane.append(h('div.ln.hd', h('i', ''), h('b', k.name), h('span.dim', ' ' + about)));
    lines.forEach(({ text, stage }, i) => {
      const has = stage != null,
        bad = has && stage === wrong;
      const mark = bad && /^ *produce /.test(text) ? h('span.wrong', pill('failed', 'culprit')) : '';
      const e = lineOf(has ? this.hue.get(k.name) : null, bad, i + 1, text, mark);
      pane.append(e);
      if (!has) return;
      e.onclick = () => go(stageHash(k, stage));
      const key = partKey(k, stage);
      if (!this.parts.has(key)) this.parts.set(key, []);
      this.parts.get(key).push(e);
    });
  },
  /** The file to show: that of the address, or of the node, or the first that the graph has. */
  fileOf(p, g) {
    if (p.file != null && p.file !== '') return +p.file;
    const n = g && p.node && g.byId[p.node];
    const here = n || this.nodesOfStage(p, g)[0];
    const place = here && here.at ? here.at[0] : ((g ? g.nodes : []).find((one) => one.at) || { at: [[0]] }).at[0];
    return place[0];
  },
  nodesOfStage(p, g) {
    const k = p.kernel && kernelsOf(g).find((one) => one.name === p.kernel);
    const stage = k && k.stages[+p.stage];
    return stage ? (stage.nodes || []).map((id) => g.byId[id]).filter(Boolean) : [];
  },
  /** What the address names: nodes of the graph. */
  nodes(p, g, file) {
    if (p.kernel) return this.nodesOfStage(p, g);
    if (!p.line) return g && g.byId[p.node] ? [g.byId[p.node]] : [];
    if (!g) return [];
    const at = (n, deep) => (n.at || []).some((a, i) => (deep || i === 0) && a[0] === file && a[1] === +p.line);
    const own = g.nodes.filter((n) => at(n, false));
    return own.length ? own : g.nodes.filter((n) => at(n, true));
  },
  show(p) {
    const g = G[p.source] || G[mainGraph()],
      file = this.fileOf(p, g);
    if (this.g !== g || this.file !== file || !this.panes) this.fillPanes(g, file);
    for (const e of this.el.querySelectorAll('.lit,.lit2,.sel')) e.classList.remove('lit', 'lit2', 'sel');
    const lit = this.nodes(p, g, file);
    const parts = p.kernel ? [[this.kernels.find((k) => k.name === p.kernel), +p.stage]] : lit.flatMap((n) => this.byNode.get(n.id) || []);
    const kernels = [...new Set(parts.map(([k]) => k))].filter(Boolean);
    this.fillCode(kernels.length ? kernels : this.kernels.slice(0, 1));
    if (p.line) this.light(this.lines.get(+p.line), 'lit');
    else
      for (const n of lit)
        for (const [i, a] of (n.at || []).entries()) if (a[0] === file) this.light(this.lines.get(a[1]), i ? 'lit2' : 'lit');
    for (const n of lit) this.light(this.ops.get(n.id), 'lit');
    for (const [k, s] of parts) if (k) for (const e of this.parts.get(partKey(k, s)) || []) this.light(e, 'lit');
    this.el.classList.toggle('fadeall', lit.length > 0 || parts.length > 0);
    for (const pane of this.panes) this.scroll(pane, pane.querySelector('.lit'));
    const chosen = p.line
      ? this.lines.get(+p.line)
      : p.kernel
        ? this.panes[2] && this.panes[2].querySelector('.lit')
        : lit.length
          ? this.ops.get(lit[0].id)
          : null;
    if (chosen) chosen.classList.add('sel');
  },
  light(e, how) {
    if (e) e.classList.add(how);
  },
  scroll(pane, e) {
    if (!e) return;
    const top = e.offsetTop - pane.offsetTop,
      seen = top > pane.scrollTop && top < pane.scrollTop + pane.clientHeight - 30;
    if (!seen) pane.scrollTop = top - Math.min(140, pane.clientHeight / 4);
  },
};
