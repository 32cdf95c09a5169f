// Around the views: navigation, addresses, search, keys, printing.
const COUNT = {
  overview: [D.findings.length],
  graph: [D.graphs.length],
  breaks: [D.totals.breaks],
  guards: [D.totals.recompiles],
  minify: [(D.minify || []).filter((m) => m.result === 'minimized').map((m) => m.calls_before + ' → ' + m.calls_after)[0] || ''],
  accuracy: [D.graphs.filter((g) => (g.failure && g.failure.wrong) || (D.accuracy[g.name] && D.accuracy[g.name].first)).length || '', 'failed'],
};
const ids = Object.keys(V).filter((id) => id !== 'diff' || D.diff),
  els = {};
const nav = $('nav');
nav.append(
  h(
    'div.brand',
    s(
      'svg',
      {
        width: 22,
        height: 22,
        viewBox: '0 0 22 22',
        fill: 'none',
        stroke: 'currentColor',
        'stroke-width': 1.8,
        'stroke-linejoin': 'round',
        'stroke-linecap': 'round',
      },
      s('path', { d: 'M3 4.500l4 13 4-9 4 9 4-13' }),
    ),
    h('div', 'Whittle', h('small', { title: D.model }, modelName)),
  ),
);
for (const id of ids) {
  const c = COUNT[id];
  nav.append(
    (V[id].nav = h(
      'a.v',
      { href: '#' + id, title: V[id].title + ' (' + V[id].key + ')' },
      icon(id),
      h('span', V[id].label || V[id].title),
      c && h('b' + (c[1] ? '.c.s-' + c[1] : ''), String(c[0])),
    )),
  );
}
nav.append(
  h(
    'div.foot',
    h('div', h('kbd', '/'), ' search'),
    h('div', h('kbd', '1'), ' – ', h('kbd', '9'), ' views'),
    h('div', h('kbd', '?'), ' all keys'),
  ),
);
const top_ = $('header.top'),
  h1 = h('h1'),
  ctx = h('div.ctx');
const openPal = () => {
  $('#pal').showModal();
  const i = $('#pal input');
  i.select();
  palette(i.value);
};
const theme = (t) => {
  if (t) document.documentElement.dataset.theme = t;
  V.graph.theme && V.graph.scene && V.graph.theme();
};
top_.append(
  h1,
  ctx,
  h('span.sp'),
  h(
    'button.btn.find',
    { onclick: openPal, 'aria-label': 'Search' },
    icon('search', 14),
    h('span', 'Search'),
    h('kbd', '/'),
  ),
  h('button.btn.ic', { 'aria-label': 'Light or dark', title: 'Light or dark (t)', onclick: flip }, icon('sun', 15)),
);
function flip() {
  const d =
    document.documentElement.dataset.theme || (matchMedia('(prefers-color-scheme:dark)').matches ? 'dark' : 'light');
  theme(d === 'dark' ? 'light' : 'dark');
}
matchMedia('(prefers-color-scheme:dark)').onchange = () => theme();
function ensure(id) {
  if (els[id]) return;
  const e = (els[id] = h('div.view' + (V[id].fill ? '.fill' : ''), { id: 'v-' + id, 'data-title': V[id].title }));
  const order = ids.indexOf(id),
    next = ids
      .slice(order + 1)
      .map((i) => els[i])
      .find(Boolean);
  $('#views').insertBefore(e, next || null);
  V[id].build(e);
}
const parse = () =>
  Object.fromEntries(
    location.hash
      .slice(1)
      .split('&')
      .filter(Boolean)
      .map((p) => {
        const i = p.indexOf('=');
        return i < 0 ? [p, ''] : [p.slice(0, i), decodeURIComponent(p.slice(i + 1))];
      }),
  );
const go = (hash) => {
  if (location.hash.slice(1) === hash) route();
  else location.hash = hash;
};
let cur = null;
function route() {
  const p = parse(),
    id = ids.find((i) => i in p) || (D.diff ? 'diff' : 'overview');
  ensure(id);
  if (cur !== id) {
    for (const i of ids) {
      els[i] && els[i].classList.toggle('on', i === id);
      V[i].nav.classList.toggle('on', i === id);
      V[i].nav.setAttribute('aria-current', i === id ? 'page' : 'false');
    }
    cur = id;
    tip.style.display = 'none';
    h1.textContent = V[id].title;
  }
  ctx.replaceChildren(
    ...(id === 'source' && V.source
      ? [
          h(
            'select.btn',
            { 'aria-label': 'Graph', onchange: (e) => go('source=' + e.target.value) },
            D.graphs.map((x) => h('option', { value: x.name, selected: x.name === (p.source || mainGraph()) }, x.name)),
          ),
        ]
      : [h('span.m', D.model), D.backend ? h('span.tag', D.backend) : '']
    ).filter(Boolean),
  );
  document.title = V[id].title + ' · ' + modelName + ' · Whittle';
  V[id].show && V[id].show(p);
}
addEventListener('hashchange', route);
let keep;
addEventListener('beforeprint', () => {
  keep = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = 'light';
  for (const i of ids) {
    if (i === 'source') continue;
    ensure(i);
    els[i].classList.add('on');
    V[i].show && V[i].show(i === cur ? parse() : {});
  }
  const g = V.graph;
  if (!g.scene) return;
  g.print = g.snapshot(1200, 800);
  g.cv.after(g.print);
});
addEventListener('afterprint', () => {
  if (keep) document.documentElement.dataset.theme = keep;
  else delete document.documentElement.dataset.theme;
  V.graph.pal = null;
  V.graph.print && V.graph.print.remove();
  for (const i of ids) els[i] && els[i].classList.toggle('on', i === cur);
  route();
});
let index = null;
function palette(q) {
  if (!index) {
    index = [];
    const first = [],
      nodes = [];
    for (const f of D.frames)
      index.push(['function', f.name, f.status.map((x) => LABEL[x]).join(', '), 'graph=' + f.graphs[0]]);
    for (const id of ids) index.push(['view', V[id].title, V[id].key, id]);
    for (const g of D.graphs) {
      index.push(['graph', g.name, plural(g.ops, 'op'), 'graph=' + g.name]);
    }
    for (const g of D.graphs)
      for (const n of g.nodes)
        (isFirstWrong(g, n) ? first : nodes).push([
          'node',
          '%' + n.id + '  ' + short(n.op) + (n.mod ? '  ' + n.mod : '') + (isFirstWrong(g, n) ? '  ✕ first wrong' : ''),
          g.name,
          'graph=' + g.name + '&node=' + n.id,
        ]);
    index.unshift(...first);
    index.push(...nodes);
    for (const k of KERNELS)
      index.push([
        'kernel',
        k.name + '  ' + k.stages.map((stage) => stage.name).join(', '),
        k.graph,
        'source=' + encodeURIComponent(k.graph) + '&kernel=' + k.name + '&stage=' + (k.stages.length - 1),
      ]);
    D.files.forEach((f, fi) =>
      f.lines.forEach(
        (t, i) => t.trim() && index.push(['line', t.trim(), f.path + ':' + (i + 1), sourceHash([fi, i + 1])]),
      ),
    );
    for (const x of index) x[4] = (x[1] + ' ' + x[2]).toLowerCase();
  }
  const w = q.toLowerCase().split(/\s+/).filter(Boolean),
    out = [];
  const cg = cur === 'graph' && V.graph.g ? V.graph.g.name : null;
  const pool = cg ? [...index.filter((x) => x[2] === cg), ...index.filter((x) => x[2] !== cg)] : index;
  for (const x of pool) {
    if (w.every((t) => x[4].includes(t))) out.push(x);
    if (out.length >= 60) break;
  }
  const ul = $('#pal ul');
  ul.replaceChildren(
    ...out.map((x, i) =>
      h(
        'li' + (i ? '' : '.on'),
        { role: 'option', onclick: () => pick(x) },
        h('em', x[0]),
        h('span', x[1]),
        h('small', x[2]),
      ),
    ),
  );
  ul.items = out;
}
const pick = (x) => {
  $('#pal').close();
  if (x) {
    go(x[3]);
    if (x[0] === 'node') V.graph.cv && V.graph.cv.focus({ preventScroll: true });
  }
};
$('#pal input').oninput = (e) => palette(e.target.value);
$('#pal').onkeydown = (e) => {
  const ul = $('#pal ul'),
    L = [...ul.children],
    i = L.findIndex((x) => x.classList.contains('on'));
  if (e.key === 'Enter') {
    e.preventDefault();
    pick(ul.items[i]);
  } else if (e.key === 'ArrowDown' || e.key === 'ArrowUp') {
    e.preventDefault();
    const j = Math.max(0, Math.min(L.length - 1, i + (e.key === 'ArrowDown' ? 1 : -1)));
    L[i] && L[i].classList.remove('on');
    L[j] && (L[j].classList.add('on'), L[j].scrollIntoView({ block: 'nearest' }));
  }
};
$('#pal').onclick = (e) => {
  if (e.target.id === 'pal') e.target.close();
};
$('#help').append(
  h(
    'div.in',
    [
      ['/', 'search everything: functions, nodes, source lines'],
      ['1 – 9', D.diff ? 'views; 0: what differs' : 'views'],
      ['↑ ↓ ← →', 'graph: walk along edges; source: previous and next operation'],
      ['Enter', 'graph: open or close the module around the node'],
      ['+ − f', 'graph: zoom in, out, fit'],
      ['a', 'from the node to its source, and back'],
      ['n', 'next finding'],
      ['t', 'light or dark'],
      ['Esc', 'deselect, zoom out'],
    ].map(([k, t]) => [h('span', h('kbd', k)), h('span', t)]),
  ),
);
$('#help').onclick = (e) => e.currentTarget.close();
let fi = -1;
addEventListener('keydown', (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName) || $('dialog[open]'))
    return;
  const k = e.key,
    p = parse();
  if (k === '/') {
    e.preventDefault();
    openPal();
  } else if (k === '?') $('#help').showModal();
  else if (k >= '0' && k <= '9' && ids.some((id) => V[id].key === k)) go(ids.find((id) => V[id].key === k));
  else if (k === 't') flip();
  else if (k === 'n') {
    if (!D.findings.length) return;
    fi = (fi + 1) % D.findings.length;
    go(D.findings[fi].go);
    say(D.findings[fi].title);
  } else if (k === 'a' && p.node)
    go((cur === 'source' ? 'graph=' : 'source=') + (p.graph || p.source || p.accuracy) + '&node=' + p.node);
  else if (k === 'Escape') {
    if (V[cur].esc) V[cur].esc();
    if (p.node || p.line || p.kernel) go(cur + '=' + (p[cur] || ''));
  } else if (cur === 'source' && /Arrow(Up|Down)/.test(k)) {
    e.preventDefault();
    const g = V.source.g,
      n = g.byId[p.node],
      i = Math.max(0, Math.min(g.nodes.length - 1, (n ? n.i : -1) + (k === 'ArrowDown' ? 1 : -1)));
    go('source=' + g.name + '&node=' + g.nodes[i].id);
  }
});
$('#app').hidden = false;
route();
window.whittle = { D, V, go, ready: performance.now() - T0 };
