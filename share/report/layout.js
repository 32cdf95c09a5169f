// The graph view's model and layout: modules as groups, layers, routes of edges. No drawing here.
const OPCLASS = (op) =>
  /conv|matmul|linear|mm|gemm|einsum|embedding/i.test(op)
    ? 1
    : /relu|gelu|tanh|sigmoid|exp|softmax|silu/i.test(op)
      ? 2
      : /norm|mean|sum|max\b|max\.|argmax|pool|cumsum/i.test(op)
        ? 3
        : /^(input|output)$/.test(op)
          ? 6
          : /view|reshape|transpose|cat|getitem|unbind|permute|slice|expand|aten\.t\./i.test(op)
            ? 5
            : 4;
const CLASSNAME = ['', 'matrix', 'activation', 'reduction', 'elementwise', 'layout', 'in / out'];

/** Groups by module path; a module around one node only is no group. */
function hierarchy(g) {
  if (g.tree) return g.tree;
  const root = { id: '', name: g.name, kids: [], depth: 0, parent: null, group: true, open: true },
    at = { '': root };
  // Modules run one after the other: an operation between two of the same module is its own.
  let before = '',
    after = new Array(g.nodes.length),
    nx = '';
  for (let i = g.nodes.length - 1; i >= 0; i--) {
    after[i] = nx;
    if (g.nodes[i].mod) nx = g.nodes[i].mod;
  }
  for (const n of g.nodes) {
    if (n.mod) {
      before = n.mod;
      n.in_mod = n.mod;
      continue;
    }
    n.in_mod = '';
    if (n.kind !== 'op' || !before || !after[n.i]) continue;
    const a = before.split('.'),
      b = after[n.i].split('.');
    let k = 0;
    while (k < a.length && a[k] === b[k]) k++;
    n.in_mod = a.slice(0, k === a.length && k === b.length ? k - 1 : k).join('.');
  }
  const count = {};
  for (const n of g.nodes) {
    const p = n.in_mod ? n.in_mod.split('.') : [];
    for (let i = 1; i <= p.length; i++) {
      const k = p.slice(0, i).join('.');
      count[k] = (count[k] || 0) + 1;
    }
  }
  for (const n of g.nodes) {
    let p = root;
    const parts = n.in_mod ? n.in_mod.split('.') : [];
    for (let i = 1; i <= parts.length; i++) {
      const k = parts.slice(0, i).join('.');
      if (count[k] < 2) break;
      if (!at[k]) {
        at[k] = {
          id: k,
          name: /^\d+$/.test(parts[i - 1]) && i > 1 ? parts[i - 2] + '.' + parts[i - 1] : parts[i - 1],
          kids: [],
          depth: p.depth + 1,
          parent: p,
          group: true,
          open: false,
          first: n.i,
        };
        p.kids.push(at[k]);
      }
      p = at[k];
    }
    p.kids.push({ node: n, id: '%' + n.id, parent: p, first: n.i });
  }
  // A module that holds nothing but one module joins it.
  const fold = (x) => {
    for (let i = 0; i < x.kids.length; i++) {
      let k = x.kids[i];
      if (!k.group) continue;
      while (k.kids.length === 1 && k.kids[0].group) {
        const c = k.kids[0];
        if (!c.name.startsWith(k.name + '.')) c.name = k.name + '.' + c.name;
        c.parent = x;
        x.kids[i] = c;
        delete at[k.id];
        k = c;
      }
      fold(k);
    }
  };
  fold(root);
  const leafOf = {};
  const stat = (x) => {
    x.n = 0;
    x.bytes = 0;
    for (const k of x.kids) {
      if (k.group) {
        k.depth = x.depth + 1;
        stat(k);
        x.n += k.n;
      } else {
        x.n++;
        leafOf[k.node.id] = k;
        k.depth = x.depth + 1;
      }
    }
    x.first = Math.min(...x.kids.map((k) => k.first));
  };
  stat(root);
  // Edges, at each level of the hierarchy that they cross.
  const all = [root, ...Object.values(at).filter((x) => x !== root)];
  for (const x of all) {
    x.edges = new Map();
    x.ins = new Map();
    x.outs = new Map();
  }
  for (const n of g.nodes)
    for (const u of n.in) {
      let a = leafOf[u],
        b = leafOf[n.id];
      if (!a) continue;
      while (a.depth > b.depth) {
        put(a.parent.outs, a, u);
        a = a.parent;
      }
      while (b.depth > a.depth) {
        put(b.parent.ins, b, u);
        b = b.parent;
      }
      while (a.parent !== b.parent) {
        put(a.parent.outs, a, u);
        put(b.parent.ins, b, u);
        a = a.parent;
        b = b.parent;
      }
      const k = a.id + '\0' + b.id + '\0' + u;
      if (!a.parent.edges.has(k)) a.parent.edges.set(k, { a, b, u });
    }
  function put(map, item, u) {
    const k = item.id + '\0' + u;
    if (!map.has(k)) map.set(k, { item, u });
  }
  // Open as much as is readable at once.
  for (
    let level = root.kids.filter((k) => k.group), visible = root.kids.length;
    level.length;
    level = level.flatMap((k) => k.kids.filter((x) => x.group))
  ) {
    const more = level.reduce((a, k) => a + k.kids.length - 1, 0);
    if (visible + more > 180) break;
    visible += more;
    for (const k of level) k.open = true;
  }
  return (g.tree = { root, leafOf, groups: at });
}
const NW = 132,
  NH = 30,
  GAPX = 22,
  GAPY = 30,
  PADX = 14,
  PADT = 30,
  PADB = 12;
/** Layered layout of one group; groups inside first. Cached until something in it opens or closes. */
function layout(x) {
  if (x.lay) return x.lay;
  const items = x.kids
    .map((k) => {
      const it = { k, w: NW, h: NH, in: [], out: [], first: k.first };
      if (k.group) {
        if (k.open) {
          const l = layout(k);
          it.w = l.w;
          it.h = l.h;
          it.lay = l;
        } else {
          it.w = Math.max(NW, 70 + k.name.length * 7.2);
          it.h = 38;
        }
      } else if (k.node.kind !== 'op') {
        it.h = 26;
        it.w = Math.max(84, 28 + (k.node.label || k.node.id).length * 6.6);
      }
      k.it = it;
      return it;
    })
    .sort((a, b) => a.first - b.first);
  items.forEach((it, i) => (it.ord = i));
  const ports = [],
    es = [],
    seen = new Map();
  const edge = (a, b, u, back) => {
    const ka = a.lay && a.lay.outs.get(u),
      kb = b.lay && b.lay.ins.get(u);
    const key = a.ord + ',' + b.ord + (a.lay || b.lay ? ',' + u : ''),
      old = seen.get(key);
    if (old) {
      old.us.push(u);
      return;
    }
    const e = { a, b, us: [u], ao: ka ?? null, bo: kb ?? null, back };
    seen.set(key, e);
    es.push(e);
    if (!back) {
      a.out.push(e);
      b.in.push(e);
    }
  };
  const inP = new Map(),
    outP = new Map();
  let po = -1;
  for (const { item, u } of x.ins.values()) {
    if (!inP.has(u)) inP.set(u, { port: 1, w: 1, h: 0, in: [], out: [], ord: po--, u });
    edge(inP.get(u), item.it, u);
  }
  for (const { a, b, u } of x.edges.values()) edge(a.it, b.it, u, a.it.ord > b.it.ord);
  po = items.length;
  for (const { item, u } of x.outs.values()) {
    if (!outP.has(u)) outP.set(u, { port: 2, w: 1, h: 0, in: [], out: [], ord: po++, u });
    edge(item.it, outP.get(u), u);
  }
  const base = inP.size ? 1 : 0;
  for (const p of inP.values()) p.layer = 0;
  let last = base;
  for (const it of items) {
    it.layer = base;
    for (const e of it.in) it.layer = Math.max(it.layer, e.a.layer + 1);
    last = Math.max(last, it.layer);
  }
  for (let i = items.length - 1; i >= 0; i--) {
    const it = items[i];
    if (!it.in.length && it.out.length) {
      const m = Math.min(...it.out.map((e) => (e.b.port ? last + 1 : e.b.layer)));
      it.layer = Math.max(base, m - 1);
    }
  }
  for (const it of items) if (it.k.node && it.k.node.kind === 'output') it.layer = last = Math.max(last, it.layer);
  const NL = last + 1 + (outP.size ? 1 : 0);
  for (const p of outP.values()) p.layer = NL - 1;
  const layers = Array.from({ length: NL }, () => []);
  for (const it of [...inP.values(), ...items, ...outP.values()]) layers[it.layer].push(it);
  // Edges over several layers run through dummies.
  for (const e of es) {
    if (e.back) {
      e.chain = [e.a, e.b];
      continue;
    }
    // What very many use (a mask, a table) is told by name where it is used: its lines would hide the graph.
    if (e.b.layer - e.a.layer > 2 && e.a.out.length > 5) {
      e.stub = true;
      e.chain = [e.a, e.b];
      continue;
    }
    e.chain = [e.a];
    let p = e.a;
    const trunk = e.a.trunk || (e.a.trunk = []); // edges of one value share their way
    for (let l = e.a.layer + 1; l < e.b.layer; l++) {
      let d = trunk[l];
      if (!d || d.ao !== e.ao) {
        d = trunk[l] = { dummy: 1, w: 8, h: 0, layer: l, up: [p], down: [], ao: e.ao };
        (p.down || (p.down = [])).push(d);
        layers[l].push(d);
      }
      e.chain.push(d);
      p = d;
    }
    (p.down || (p.down = [])).push(e.b);
    (e.b.up || (e.b.up = [])).push(p);
    e.chain.push(e.b);
  }
  // Order within layers: barycentres, down and up.
  layers.forEach((L) => L.forEach((it, i) => (it.pos = i)));
  const sweep = (L, key) => {
    for (const it of L) {
      const q = it[key];
      it.bc = q && q.length ? q.reduce((a, b) => a + b.pos, 0) / q.length : it.pos;
    }
    L.sort((a, b) => a.bc - b.bc || (a.ord ?? 0) - (b.ord ?? 0));
    L.forEach((it, i) => (it.pos = i));
  };
  if (layers.some((L) => L.length > 1))
    for (let r = 0; r < 4; r++) {
      for (let l = 1; l < NL; l++) sweep(layers[l], 'up');
      for (let l = NL - 2; l >= 0; l--) sweep(layers[l], 'down');
    }
  // Positions: each wants the mean of its neighbours; least squares under the order (pool adjacent violators).
  for (const L of layers) {
    let c = 0;
    for (const it of L) {
      it.x = c + it.w / 2;
      c += it.w + GAPX;
    }
    const off = c / 2;
    for (const it of L) it.x -= off;
  }
  const port = (it, other) => it.x;
  const place = (L, key) => {
    const blocks = [];
    let off = 0,
      prev = 0;
    for (const it of L) {
      off += blocks.length || prev ? prev / 2 + it.w / 2 + (it.dummy ? 12 : GAPX) : 0;
      prev = it.w;
      it.off = off;
      const q = it[key] && it[key].length ? it[key] : null;
      const want = (q ? q.reduce((a, b) => a + port(b, it), 0) / q.length : it.x) - off,
        wt = q ? (it.dummy ? 3 : 1) : 0.3;
      blocks.push({ s: want * wt, w: wt, n: [it] });
      while (blocks.length > 1) {
        const b = blocks[blocks.length - 1],
          a = blocks[blocks.length - 2];
        if (a.s / a.w <= b.s / b.w) break;
        a.s += b.s;
        a.w += b.w;
        for (const n of b.n) a.n.push(n);
        blocks.pop();
      }
    }
    for (const b of blocks) for (const it of b.n) it.x = b.s / b.w + it.off;
  };
  for (let r = 0; r < 3; r++) {
    for (let l = 1; l < NL; l++) place(layers[l], 'up');
    for (let l = NL - 2; l >= 0; l--) place(layers[l], 'down');
  }
  // Rows; long graphs are folded into columns, where few edges are cut.
  const hs = layers.map((L) => Math.max(0, ...L.map((it) => it.h))),
    ext = (a, b) => {
      let lo = 1e9,
        hi = -1e9;
      for (let l = a; l < b; l++)
        for (const it of layers[l]) {
          lo = Math.min(lo, it.x - it.w / 2);
          hi = Math.max(hi, it.x + it.w / 2);
        }
      return [lo, hi];
    };
  const total = hs.reduce((a, b) => a + b + GAPY, 0),
    [lo, hi] = ext(0, NL),
    W = hi - lo + 60;
  let cuts = [0];
  const k = Math.min(40, Math.round(Math.sqrt((total * 1.75) / W)));
  if (total > 1100 && k > 1 && total > W * 2.2) {
    const colH = total / k;
    let y = 0,
      want = colH,
      best = null;
    for (let l = 0; l < NL; l++) {
      y += hs[l] + GAPY;
      const cost =
        layers[l].filter((it) => (it.down || []).length).length +
        layers[l].filter((it) => it.dummy).length +
        Math.abs(y - want) / (colH * 0.16);
      if (l < NL - 2 && y > want - colH * 0.3 && (!best || cost < best.cost)) best = { l: l + 1, cost, y };
      if (y > want + colH * 0.22 && best) {
        cuts.push(best.l);
        want = best.y + colH;
        best = null;
      }
    }
  }
  let X = PADX,
    maxH = 0;
  const colOf = new Array(NL),
    colX = [];
  const top = x.parent ? PADT : 10;
  for (let c = 0; c < cuts.length; c++) {
    const a = cuts[c],
      b = cuts[c + 1] ?? NL,
      [l0, h0] = ext(a, b);
    let y = top + (cuts.length > 1 ? 26 : 0);
    for (let l = a; l < b; l++) {
      colOf[l] = c;
      const vis = layers[l].some((it) => !it.dummy && !it.port);
      for (const it of layers[l]) {
        it.x += X - l0;
        it.y = y + (vis ? ((hs[l] - it.h) / 2) * 0 : 0);
        it.lh = hs[l];
      }
      y += hs[l] + (l < b - 1 ? (l === 0 && base ? 12 : l === b - 2 && outP.size && b === NL ? 10 : GAPY) : 0);
    }
    colX.push([X, X + h0 - l0]);
    X += h0 - l0 + (c < cuts.length - 1 ? 56 : 0);
    maxH = Math.max(maxH, y);
  }
  const label = x.parent ? x.name.length * 7 + 60 : 0;
  let w = X + PADX;
  if (w < label) {
    const d = (label - w) / 2;
    for (const L of layers) for (const it of L) it.x += d;
    w = label;
  }
  const hh = maxH + (x.parent ? PADB : 10) + (cuts.length > 1 ? 26 : 0);
  const ins = new Map(),
    outs = new Map();
  for (const [u, p] of inP) {
    ins.set(u, p.x - w / 2);
    p.y = 0;
    p.lh = 0;
  }
  for (const [u, p] of outP) {
    outs.set(u, p.x - w / 2);
    p.y = hh;
    p.lh = 0;
  }
  return (x.lay = { w, h: hh, items, es, ins, outs, colOf, colX, bottom: maxH, top });
}
/** Absolute boxes and edges of what is open. */
function flatten(tree) {
  const boxes = [],
    edges = [];
  const go = (x, ox, oy) => {
    const l = layout(x);
    for (const it of l.items) {
      const bx = ox + it.x - it.w / 2,
        by = oy + it.y;
      it.k.box = { x: bx, y: by, w: it.w, h: it.h, k: it.k };
      boxes.push(it.k.box);
      if (it.lay) go(it.k, bx, by);
    }
    let lane = 0;
    for (const e of l.es) {
      const p = [];
      const c = e.chain;
      if (e.stub) {
        const q = e.b,
          px = ox + q.x + (e.bo != null ? e.bo : -q.w / 2 + 16 + (q.stubs = (q.stubs || 0) + 1) * 6),
          py = oy + q.y;
        edges.push({
          p: [px, py - 12, 0, px, py, 1],
          us: e.us,
          x0: px,
          x1: px,
          y0: py - 12,
          y1: py,
          a: e.a.k,
          b: e.b.k,
          stub: true,
        });
        continue;
      }
      for (let i = 0; i < c.length; i++) {
        const q = c[i],
          px = ox + q.x + (i === 0 && e.ao != null ? e.ao : i === c.length - 1 && e.bo != null ? e.bo : 0);
        const prev = c[i - 1];
        if (prev && l.colOf[prev.layer] !== l.colOf[q.layer] && prev.layer < q.layer) {
          const g = 10 + (lane++ % 4) * 5,
            [, x1] = l.colX[l.colOf[q.layer] - 1],
            last = p[p.length - 3],
            gx = ox + x1 + 14 + (lane % 4) * 8;
          p.push(
            last,
            oy + l.bottom + g,
            1,
            gx,
            oy + l.bottom + g,
            1,
            gx,
            oy + l.top + g - 4,
            1,
            px,
            oy + l.top + g - 4,
            1,
          );
        }
        if (i > 0) p.push(px, oy + q.y, 0);
        if (i < c.length - 1) {
          if (q.dummy) {
            if (q.lh) p.push(px, oy + q.y + q.lh, 1);
          } else p.push(px, oy + q.y + q.h, 0);
        }
      }
      // p: x, y, kind (1: straight to here)
      let x0 = 1e9,
        y0 = 1e9,
        x1 = -1e9,
        y1 = -1e9;
      for (let i = 0; i < p.length; i += 3) {
        x0 = Math.min(x0, p[i]);
        x1 = Math.max(x1, p[i]);
        y0 = Math.min(y0, p[i + 1]);
        y1 = Math.max(y1, p[i + 1]);
      }
      edges.push({ p, us: e.us, x0, y0, x1, y1, a: e.a.k, b: e.b.k, real: !e.a.port, back: e.back });
    }
  };
  go(tree.root, 0, 0);
  const l = tree.root.lay;
  return { boxes, edges, w: l.w, h: l.h };
}
