// The elements that all views are made of: icons, links, commands, source lines, tables.
import { D, file, place, sourceHash } from './data.js';
import { nf, shownOf } from './words.js';

export const $ = (selector) => document.querySelector(selector);
const SVGNS = 'http://www.w3.org/2000/svg';
/** Element: h('div.card#id', {attr, onclick}, ...children). Text is never parsed as HTML. */
export function h(tag, at, ...kids) {
  const [t, ...cl] = tag.split('.');
  const e = document.createElement(t || 'div');
  if (cl.length) e.className = cl.join(' ');
  if (at && (at.nodeType || typeof at !== 'object' || Array.isArray(at))) {
    kids.unshift(at);
    at = null;
  }
  for (const k in at || {}) {
    const v = at[k];
    if (v == null || v === false) continue;
    if (k.startsWith('on')) e[k] = v;
    else if (k === 'style') e.style.cssText = v;
    else e.setAttribute(k, v === true ? '' : v);
  }
  e.append(...kids.flat(9).filter((x) => x != null && x !== false && x !== ''));
  return e;
}
export function s(tag, at, ...kids) {
  const e = document.createElementNS(SVGNS, tag);
  for (const k in at || {})
    if (k.startsWith('on')) e[k] = at[k];
    else if (at[k] != null) e.setAttribute(k, at[k]);
  e.append(...kids.flat(9).filter((x) => x != null));
  return e;
}
const ICON = {
  overview: 'M2.5 4h11M2.5 8h11M2.5 12h6',
  graph: 'M5 2.5h6v3H5zM1.5 10.5h5v3h-5zM9.5 10.5h5v3h-5zM8 5.5v2.5M4 10.5V8h8v2.5',
  source: 'M2 2.5h5v11H2zM9 2.5h5v11H9zM7 6h2M7 10h2',
  halide: 'M2 3h12M4 6.500h10M6 10h8M4 13.500h10',
  breaks: 'M8 1.5v4M8 10.5v4M3 8h10M5 6l6 4',
  guards: 'M8 1.8l5 1.8v4.2c0 3-2.2 5.3-5 6.4-2.8-1.1-5-3.4-5-6.4V3.6z',
  accuracy: 'M1.5 12c2.5 0 3-8 5-8s2 5 3.500 5 1.500-5.500 4.500-5.500',
  time: 'M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zM8 4.5V8l2.5 1.5',
  minify: 'M2 3h12M4 6.500h8M6 10h4M7.500 13.500h1',
  diff: 'M5 2v12M2.500 4.500L5 2l2.500 2.500M11 14V2M8.500 11.500L11 14l2.500-2.500',
  env: 'M2 3.500h12v7H2zM5.500 13.500h5M8 10.500v3',
  failed: 'M5.500 5.500l5 5M10.500 5.500l-5 5',
  break: 'M4 8h2.400M9.600 8h2.400M9.100 5.200l-2.200 5.600',
  recompiled: 'M11.500 6.200A4 4 0 1 0 12 8.500M11.800 3.700v2.600H9.200',
  nan: 'M8 4.500v4.200M8 10.900v.6',
  ok: 'M5 8.300l2.200 2.200L11.200 6',
  copy: 'M5.500 5.500v-3h8v8h-3M2.500 5.500h8v8h-8z',
  check: 'M3 8.500l3.500 3.500L13 5',
  search: 'M7 2.500a4.500 4.500 0 1 1 0 9 4.500 4.500 0 0 1 0-9zM10.500 10.500l3.500 3.500',
  sun: 'M8 5a3 3 0 1 1 0 6 3 3 0 0 1 0-6zM8 1.500v1.500M8 13v1.500M1.500 8H3M13 8h1.500M3.400 3.400l1 1M11.600 11.600l1 1M12.600 3.400l-1 1M4.400 11.600l-1 1',
  tw: 'M6 4l4 4-4 4',
  plus: 'M8 3.500v9M3.500 8h9',
  minus: 'M3.500 8h9',
  fit: 'M2.500 6V2.500H6M10 2.500h3.500V6M13.500 10v3.500H10M6 13.500H2.500V10',
};
export function icon(n, size = 16) {
  const ring = ['failed', 'break', 'recompiled', 'nan', 'ok'].includes(n);
  return s(
    'svg',
    {
      width: size,
      height: size,
      viewBox: '0 0 16 16',
      fill: 'none',
      stroke: 'currentColor',
      'stroke-width': 1.5,
      'stroke-linecap': 'round',
      'stroke-linejoin': 'round',
      'aria-hidden': 'true',
    },
    ring
      ? s('circle', { cx: 8, cy: 8, r: 6.7, 'stroke-width': 1.3, fill: 'currentColor', 'fill-opacity': 0.12 })
      : null,
    s('path', { d: ICON[n] }),
  );
}
export const LABEL = { failed: 'failed', break: 'graph break', recompiled: 'recompiled', nan: 'NaN', ok: 'ok' };
export const pill = (st, text) => h('span.pill.s-' + st, icon(st, 13), text || LABEL[st]);
export const css = (n) => getComputedStyle(document.documentElement).getPropertyValue(n).trim();
export function copyBtn(text) {
  const b = h(
    'button.cp',
    { title: 'Copy', 'aria-label': 'Copy: ' + (text.length > 80 ? 'text' : text) },
    icon('copy', 14),
  );
  b.onclick = async (e) => {
    e.stopPropagation();
    e.preventDefault();
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const t = h('textarea', { style: 'position:fixed;opacity:0' });
      t.value = text;
      document.body.append(t);
      t.select();
      document.execCommand('copy');
      t.remove();
    }
    b.classList.add('done');
    b.replaceChildren(icon('check', 14));
    say('copied');
    setTimeout(() => {
      b.classList.remove('done');
      b.replaceChildren(icon('copy', 14));
    }, 1200);
  };
  return b;
}
/** Broken between words, not within: a hyphen ends no word. */
export const cmd = (c) => h('div.cmd', h('code', c.split(' ').map((w, i) => [i ? ' ' : '', h('span', w)])), copyBtn(c));
/** A button that saves the text as a file of that name. */
export function saveBtn(name, text) {
  const b = h('button.btn.save', { 'aria-label': 'Save ' + name }, 'Save ' + name);
  b.onclick = () => {
    const a = h('a', { download: name, href: URL.createObjectURL(new Blob([text], { type: 'text/plain' })) });
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 1000);
  };
  return b;
}
export const say = (t) => {
  $('#say').textContent = t;
};
export const tip = $('.tip');
/** Shows the text beside the mouse while it is over `e`; a function is given the event, and may have none. */
export function hover(e, text) {
  e.onmousemove = (ev) => {
    tip.textContent = typeof text === 'function' ? text(ev) : text;
    tip.style.display = tip.textContent ? 'block' : 'none';
    tip.style.left = Math.min(ev.clientX + 14, innerWidth - tip.offsetWidth - 8) + 'px';
    tip.style.top = Math.min(ev.clientY + 16, innerHeight - tip.offsetHeight - 8) + 'px';
  };
  e.onmouseleave = () => {
    tip.style.display = 'none';
  };
  return e;
}
const KW =
  /(\/\/.*$)|("(?:[^"\\]|\\.)*")|\b(const|auto|struct|return|if|else|for|int|float|double|bool|char|static|constexpr|void|using|namespace|override|true|false|std|include|template|class|public|new|while|sizeof)\b|\b(\d[\w.]*)/g;
export function code(line) {
  const out = [];
  let i = 0;
  for (const m of line.matchAll(KW)) {
    if (m.index > i) out.push(line.slice(i, m.index));
    out.push(h('span.' + (m[1] ? 'cm' : m[2] ? 'st' : m[3] ? 'kw' : 'nu'), m[0]));
    i = m.index + m[0].length;
  }
  out.push(line.slice(i));
  return out;
}
export function snippet(at, around, st) {
  const L = D.files[at[0]].lines;
  if (!L[at[1] - 1]) return h('p.note', place(at) + ' (the source is not in this report)');
  const a = Math.max(1, at[1] - around),
    b = Math.min(L.length, at[1] + around);
  const pre = h('div.src' + (st ? '.s-' + st : ''));
  for (let i = a; i <= b; i++)
    pre.append(h('div' + (i === at[1] ? '.hit' : ''), h('i', String(i)), h('span', code(L[i - 1]))));
  return pre;
}
export const link = (hash, ...kids) => h('a.lk', { href: '#' + hash }, ...kids);
export const placeLink = (at, graph) => h('a.place', { href: '#' + sourceHash(at, graph), title: file(at) }, place(at));
/** A table of `rows`, of which cells that are numbers' texts stand right. */
export function rowsTable(heads, rows, most = 200) {
  const cell = (tag, value, i) => h(tag + (heads[i].startsWith('#') ? '.n' : ''), value);
  const shown = shownOf(rows.length, most);
  const body = (list) => list.map((row) => h('tr', row.map((value, i) => cell('td', value, i))));
  const table = h(
    'table',
    h('thead', h('tr', heads.map((text, i) => cell('th', text.replace('#', ''), i)))),
    h('tbody', body(rows.slice(0, shown))),
  );
  if (rows.length === shown) return table;
  const more = h('button.btn', 'show all ' + nf(rows.length));
  more.onclick = () => {
    table.tBodies[0].append(...body(rows.slice(shown)));
    more.remove();
  };
  return h('div', table, more);
}

