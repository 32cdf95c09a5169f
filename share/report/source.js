// Source and graph side by side: a line lights its operations, an operation its lines.
V.source = {
  title: 'Source',
  key: '3',
  fill: true,
  build(el) {
    el.classList.add('four');
    this.el = el;
  },
  pane(title, sub) {
    const bd = h('div.bd', { tabindex: 0, 'aria-label': title });
    this.el.append(h('section.pane', h('header', title, h('span', sub)), bd));
    return bd;
  },
  /** The panes of one graph and one file. */
  fill(g, file) {
    Object.assign(this, { g, file, lines: new Map(), ops: new Map() });
    this.el.replaceChildren();
    const F = D.files[file],
      left = this.pane('Source', F ? F.path : 'no source is known'),
      right = this.pane('Graph', g ? g.name + ' · ' + plural(g.ops, 'op') : '');
    const used = new Set((g ? g.nodes : []).flatMap((n) => (n.at || []).filter((a) => a[0] === file).map((a) => a[1])));
    (F ? F.lines : []).forEach((text, i) => {
      const has = used.has(i + 1);
      const e = h(
        'div.ln' + (has ? '.h' : ''),
        { style: has ? '--hc:var(--acc)' : '' },
        h('i', String(i + 1)),
        code(text),
      );
      if (has) e.onclick = () => go(sourceHash([file, i + 1], g.name));
      this.lines.set(i + 1, e);
      left.append(e);
    });
    for (const n of g ? g.nodes : []) {
      const text =
        n.kind === 'op'
          ? ['%' + n.id, h('span.dim', ' = '), short(n.op), h('span.dim', n.text.slice(n.text.indexOf('(')))]
          : n.text;
      const e = h('div.ln' + (n.at ? '.h' : ''), { style: n.at ? '--hc:var(--acc)' : '' }, h('i', String(n.i)), text);
      e.onclick = () => go('source=' + encodeURIComponent(g.name) + '&node=' + n.id);
      this.ops.set(n.id, e);
      right.append(e);
    }
    this.panes = [left, right];
  },
  /** The file to show: that of the address, or of the node, or the first that the graph has. */
  fileOf(p, g) {
    if (p.file != null && p.file !== '') return +p.file;
    const n = g && p.node && g.byId[p.node];
    const place = n && n.at ? n.at[0] : ((g ? g.nodes : []).find((n) => n.at) || { at: [[0]] }).at[0];
    return place[0];
  },
  show(p) {
    const g = G[p.source] || G[mainGraph()],
      file = this.fileOf(p, g);
    if (this.g !== g || this.file !== file || !this.panes) this.fill(g, file);
    for (const e of this.el.querySelectorAll('.lit,.lit2,.sel')) e.classList.remove('lit', 'lit2', 'sel');
    const line = p.line ? +p.line : null;
    const at = (n, deep) => (n.at || []).some((a, i) => (deep || i === 0) && a[0] === file && a[1] === line);
    let lit = [];
    if (line) {
      lit = g.nodes.filter((n) => at(n, false));
      if (!lit.length) lit = g.nodes.filter((n) => at(n, true));
      this.light(this.lines.get(line), 'lit');
    } else if (g && g.byId[p.node]) {
      lit = [g.byId[p.node]];
      for (const [i, a] of (lit[0].at || []).entries())
        if (a[0] === file) this.light(this.lines.get(a[1]), i ? 'lit2' : 'lit');
    }
    for (const n of lit) this.light(this.ops.get(n.id), 'lit');
    this.el.classList.toggle('fadeall', lit.length > 0);
    const first = (pane) => pane.querySelector('.lit');
    for (const pane of this.panes) this.scroll(pane, first(pane));
    const chosen = line ? this.lines.get(line) : lit.length ? this.ops.get(lit[0].id) : null;
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
