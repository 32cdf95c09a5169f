// What the graph view puts on its canvas: modules, edges, nodes, names and sizes, and what is marked.
import { ACC, CLOSE, D, closenessOf } from './data.js';
import { css } from './elements.js';
import { short } from './words.js';

const CLASSES = [
  ['matrix', /conv|matmul|linear|mm|gemm|einsum|embedding/i],
  ['activation', /relu|gelu|tanh|sigmoid|exp|softmax|silu/i],
  ['reduction', /norm|mean|sum|max\b|max\.|argmax|pool|cumsum/i],
  ['in / out', /^(input|output)$/],
  ['layout', /view|reshape|transpose|cat|getitem|unbind|permute|slice|expand|aten\.t\./i],
  ['elementwise', /^/],
];
/** The classes of operations by their names, each with its color: the variable --kN. */
export const CLASS_COLORS = { matrix: 1, activation: 2, reduction: 3, elementwise: 4, layout: 5, 'in / out': 6 };
const classOf = (op) => CLASSES.find(([, of]) => of.test(op))[0];

/** The class of a node's value against the reference, of a module the worst of what is in it; undefined: not compared. */
const WORST = ['nan', 'differs', 'rounding', 'same'];
function closenessIn(g, k) {
  const values = ACC[g.name];
  if (!values) return undefined;
  if (!k.group) return values[k.node.id] && closenessOf(values[k.node.id]);
  if (!('worst' in k)) {
    const classes = k.kids.map((kid) => closenessIn(g, kid));
    k.worst = WORST.find((one) => classes.includes(one));
  }
  return k.worst;
}

/** The colors and fonts of the page as they are now: light or dark. */
export const palette = () => ({
  back: css('--bg1'),
  node: css('--bg'),
  line: css('--line2'),
  group: css('--bg2'),
  text: css('--fg'),
  text2: css('--fg2'),
  text3: css('--fg3'),
  accent: css('--acc'),
  failed: css('--failed'),
  nan: css('--nan'),
  classes: Object.fromEntries(Object.entries(CLASS_COLORS).map(([name, k]) => [name, css('--k' + k)])),
  closeness: Object.fromEntries(Object.entries(CLOSE).map(([name, [, color]]) => [name, css(color.slice(4, -1))])),
  sans: css('--sans'),
  mono: css('--mono'),
});

/**
 * Draws `view` on `c`: the graph `g`, its `tree` and `scene`, seen through W, H, dpr, the scale s and the shift tx, ty;
 * colored by `mode`; with the selected `node` and the box `hov` under the mouse.
 */
export function draw(c, view) {
  const { s, tx, ty, W, H, dpr, scene, pal } = view;
  c.setTransform(dpr, 0, 0, dpr, 0, 0);
  c.fillStyle = pal.back;
  c.fillRect(0, 0, W, H);
  c.setTransform(s * dpr, 0, 0, s * dpr, tx * dpr, ty * dpr);
  const left = -tx / s,
    top = -ty / s;
  /** What is seen of the scene, and how large a pixel is there. */
  const seen = { x0: left, y0: top, x1: left + W / s, y1: top + H / s, px: 1 / s };
  const boxes = scene.boxes.filter((b) => b.x < seen.x1 && b.x + b.w > left && b.y < seen.y1 && b.y + b.h > top);
  const groups = boxes.filter((b) => b.k.group),
    leaves = boxes.filter((b) => !b.k.group);
  drawGroups(c, view, groups, seen);
  drawEdges(c, view, seen);
  if (s > 0.3) drawArrows(c, view, seen);
  if (s < 0.28) drawBlocks(c, view, leaves);
  else for (const b of leaves) drawNode(c, view, b, seen);
  c.textBaseline = 'middle';
  for (const b of groups) drawName(c, view, b);
  if (s > 0.72) drawSizes(c, view, seen);
  drawMarks(c, view, seen);
}

function rounded(c, x, y, w, h, r) {
  c.beginPath();
  c.roundRect(x, y, w, h, r);
}

function colorOf({ mode, g, pal }, k) {
  if (mode === 'heat') return pal.closeness[closenessIn(g, k)] || pal.line;
  return pal.classes[classOf(k.node.op)];
}

function drawGroups(c, view, groups, { px }) {
  const { pal, s, hov, mode, g } = view;
  c.lineWidth = px;
  for (const b of groups) {
    const open = b.k.open;
    rounded(c, b.x, b.y, b.w, b.h, open ? 9 : 7);
    c.fillStyle = open && b.k.depth % 2 ? pal.group : pal.node;
    c.fill();
    const heat = !open && mode === 'heat' && pal.closeness[closenessIn(g, b.k)];
    if (heat) {
      c.fillStyle = heat;
      c.globalAlpha = 0.22;
      c.fill();
      c.globalAlpha = 1;
    }
    c.strokeStyle = b === hov ? pal.text3 : pal.line;
    c.stroke();
    if (!open && s > 0.12) {
      rounded(c, b.x + 3, b.y + 3, b.w - 6, b.h - 6, 5);
      c.stroke();
    }
  }
}

/** One path for all edges; those of the selected node are on top. */
function drawEdges(c, view, seen) {
  const { pal, s, scene, node, hov } = view;
  const selected = node || (hov && hov.k.node),
    ofSelected = (e) => selected && (e.us.includes(selected.id) || (e.b && e.b.node === selected)),
    hidden = (e) =>
      e.x1 < seen.x0 || e.x0 > seen.x1 || e.y1 < seen.y0 || e.y0 > seen.y1 || (s < 0.05 && e.y1 - e.y0 < 3 * seen.px);
  const stroke = (edges, curved) => {
    c.beginPath();
    for (const e of edges) trace(c, e.p, curved);
    c.stroke();
  };
  const edges = scene.edges.filter((e) => !hidden(e)),
    curved = s > 0.22;
  c.strokeStyle = pal.text3;
  c.globalAlpha = curved ? 0.6 : 0.45;
  c.lineWidth = Math.max(1.1, seen.px * 0.9);
  stroke(edges.filter((e) => !e.back && !ofSelected(e)), curved);
  c.setLineDash([5, 4]);
  stroke(scene.edges.filter((e) => e.back), false);
  c.setLineDash([]);
  c.globalAlpha = 1;
  c.strokeStyle = pal.accent;
  c.lineWidth = Math.max(2, 1.6 * seen.px);
  stroke(edges.filter(ofSelected), curved);
}

/** Along the points of an edge, see routes.js. */
function trace(c, p, curved) {
  c.moveTo(p[0], p[1]);
  for (let i = 3; i < p.length; i += 3) {
    const [x0, y0] = [p[i - 3], p[i - 2]];
    const [x, y, straight] = [p[i], p[i + 1], p[i + 2]];
    if (!curved || straight || x === x0) c.lineTo(x, y);
    else {
      const m = Math.min(24, Math.abs(y - y0) / 2 + 4);
      c.bezierCurveTo(x0, y0 + m, x, y - m, x, y);
    }
  }
}

const within = ({ x0, y0, x1, y1 }, x, y) => x > x0 && x < x1 && y > y0 && y < y1;

/** Where edges end, and the dots of values that are named instead of drawn. */
function drawArrows(c, { pal, scene }, seen) {
  c.fillStyle = pal.text3;
  c.globalAlpha = 0.8;
  c.beginPath();
  for (const e of scene.edges) {
    if (e.stub && within(seen, e.x0, e.y0)) {
      c.moveTo(e.x0 + 2.5, e.y0);
      c.arc(e.x0, e.y0, 2.5, 0, 7);
    }
    const [x, y] = e.p.slice(-3);
    if (!e.b || e.back || !within(seen, x, y)) continue;
    c.moveTo(x, y);
    c.lineTo(x - 3.4, y - 6);
    c.lineTo(x + 3.4, y - 6);
  }
  c.fill();
  c.globalAlpha = 1;
}

/** Nodes from afar: blocks of color. */
function drawBlocks(c, view, leaves) {
  const byColor = new Map();
  for (const b of leaves) {
    const color = colorOf(view, b.k);
    if (!byColor.has(color)) byColor.set(color, []);
    byColor.get(color).push(b);
  }
  c.globalAlpha = 0.85;
  for (const [color, boxes] of byColor) {
    c.fillStyle = color;
    c.beginPath();
    for (const b of boxes) c.rect(b.x, b.y, b.w, b.h);
    c.fill();
  }
  c.globalAlpha = 1;
}

function drawNode(c, view, b, { px }) {
  const { pal, s, hov, mode } = view;
  const isOp = b.k.node.kind === 'op',
    radius = isOp ? 6 : b.h / 2;
  rounded(c, b.x, b.y, b.w, b.h, radius);
  c.fillStyle = pal.node;
  c.fill();
  c.save();
  c.clip();
  c.fillStyle = colorOf(view, b.k);
  c.globalAlpha = mode === 'op' ? 0.13 : 0.22;
  c.fillRect(b.x, b.y, b.w, b.h);
  c.globalAlpha = 1;
  if (isOp) c.fillRect(b.x, b.y, 4, b.h);
  c.restore();
  c.lineWidth = Math.max(1, px);
  c.strokeStyle = b === hov ? pal.text3 : pal.line;
  rounded(c, b.x, b.y, b.w, b.h, radius);
  c.stroke();
  if (s > 0.34) drawLabel(c, view, b);
}

/** The name of an input or output; of an operation its name and what of its module's path the group does not say. */
function drawLabel(c, { pal, s }, b) {
  const n = b.k.node,
    y = b.y + b.h / 2 + 0.5;
  c.textBaseline = 'middle';
  c.fillStyle = pal.text;
  if (n.kind !== 'op') {
    c.font = '500 11px ' + pal.sans;
    c.textAlign = 'center';
    c.fillText(n.label || n.id, b.x + b.w / 2, y);
    c.textAlign = 'left';
    return;
  }
  c.font = '600 12px ' + pal.sans;
  const outer = b.k.parent.id;
  const name = short(n.op),
    part = n.mod ? n.mod.slice(outer ? outer.length + 1 : 0) : '';
  c.fillText(name, b.x + 13, y, b.w - 18);
  if (!part || s <= 0.5) return;
  const from = 13 + c.measureText(name).width + 7;
  c.font = '11px ' + pal.sans;
  c.fillStyle = pal.text3;
  // A part of a name would be another name.
  if (from + c.measureText(part).width < b.w - 6) c.fillText(part, b.x + from, y);
}

/** The name of a module and its number of nodes, on the screen's scale where there is room. */
function drawName(c, { pal, s }, b) {
  const k = b.k,
    size = Math.min(12 * Math.max(1, 0.8 / s), b.w / (k.name.length * 0.6 + 3), k.open ? 1e3 : b.h * 0.6);
  if (b.w * s < 34) return;
  if (k.open && (s < 0.3 || (size * s < 8.5 && b.w * s < 110))) return;
  const font = (k.open ? Math.min(size, 12 / Math.min(1, Math.max(s, 0.45))) : size) + 'px ' + pal.sans;
  const y = k.open ? b.y + 15 : b.y + b.h / 2,
    name = (k.open ? '−  ' : '+  ') + k.name;
  c.font = '600 ' + font;
  c.fillStyle = k.open ? pal.text2 : pal.text;
  c.fillText(name, b.x + 12, y);
  const width = c.measureText(name).width;
  c.font = '400 ' + font;
  c.fillStyle = pal.text3;
  if (b.w > width + 70) c.fillText(String(k.n), b.x + 12 + width + 8, y);
}

/** What an edge carries: sizes where it begins, the name of a value that is not drawn. */
function drawSizes(c, { pal, scene, g }, seen) {
  c.font = '10px ' + pal.mono;
  c.lineWidth = 4;
  c.lineJoin = 'round';
  const done = new Set();
  for (const e of scene.edges) {
    if (!e.b) continue;
    if (e.stub) {
      const name = '%' + e.us[0];
      c.fillStyle = pal.text3;
      if (within(seen, e.x0, e.y0)) c.fillText(name, e.x0 - c.measureText(name).width - 5, e.y0);
      continue;
    }
    const [x, y] = e.p;
    const key = Math.round(x) + ',' + Math.round(y);
    if (!e.a || !within({ ...seen, x0: seen.x0 - 120 }, x, y) || done.has(key)) continue;
    done.add(key);
    const text = sizesOf(e, g);
    const outer = e.a.parent;
    c.strokeStyle = !outer.parent ? pal.back : outer.depth % 2 ? pal.group : pal.node;
    c.strokeText(text, x + 7, y + 12);
    c.fillStyle = pal.text3;
    c.fillText(text, x + 7, y + 12);
  }
}

function sizesOf(e, g) {
  if (e.us.length > 1) return e.us.length + ' tensors';
  const { out } = g.byId[e.us[0]];
  if (!out[0]) return '';
  return (out.length > 1 ? out.length + '× ' : '') + out[0].sizes.join('×') || out[0].dtype;
}

/** The box in which a node is seen: its own, or that of the outermost module around it that is closed. */
function visibleBox(tree, id) {
  const leaf = tree.leafOf[id];
  if (!leaf) return null;
  let box = leaf.box;
  for (let x = leaf.parent; x; x = x.parent) if (!x.open) box = x.box;
  return box;
}

/** The first wrong value, where NaN are born, the selected node. */
function drawMarks(c, view, { px }) {
  const { pal, g, tree, node } = view;
  const ring = (b, color, margin) => {
    c.lineWidth = Math.max(2, 2 * px);
    c.strokeStyle = color;
    rounded(c, b.x - margin, b.y - margin, b.w + 2 * margin, b.h + 2 * margin, margin === 2 ? 8 : 10);
    c.stroke();
  };
  const flag = (id, text, color) => {
    const b = id && visibleBox(tree, id);
    if (!b) return;
    ring(b, color, 2);
    const size = Math.max(11, 11 * px);
    const x = b.x - 2,
      y = b.y - size * 1.6 - 5;
    c.font = '600 ' + size + 'px ' + pal.sans;
    c.fillStyle = color;
    rounded(c, x, y, c.measureText(text).width + size, size * 1.6, size * 0.4);
    c.fill();
    c.fillStyle = pal.back;
    c.textBaseline = 'middle';
    c.fillText(text, x + size / 2, y + size * 0.85);
  };
  const { first, nan_born: born } = D.accuracy[g.name] || {};
  flag(first, 'first wrong value', pal.failed);
  flag(born, 'first NaN', pal.nan);
  const box = node && visibleBox(tree, node.id);
  if (box) ring(box, pal.accent, 5);
}

/** A picture of the whole scene for the corner: its canvas, its scale and its margins. */
export function thumbnail({ scene, pal, dpr }) {
  const w = Math.max(60, Math.min(190, (scene.w / scene.h) * 130)),
    h = Math.min(130, (w * scene.h) / scene.w + 16);
  const scale = Math.min((w - 12) / scene.w, (h - 12) / scene.h);
  const x = (w - scene.w * scale) / 2,
    y = (h - scene.h * scale) / 2;
  const canvas = document.createElement('canvas');
  canvas.width = w * dpr;
  canvas.height = h * dpr;
  const c = canvas.getContext('2d');
  c.setTransform(scale * dpr, 0, 0, scale * dpr, x * dpr, y * dpr);
  for (const { k, x: left, y: top, w: width, h: height } of scene.boxes) {
    c.fillStyle = k.group ? (k.open ? pal.group : pal.line) : pal.classes[classOf(k.node.op)];
    c.fillRect(left, top, Math.max(width, 1 / scale), Math.max(height, 1 / scale));
  }
  return { canvas, w, h, scale, x, y };
}

/** The thumbnail, and a frame around what the view shows of it. */
export function drawThumbnail(c, { canvas, w, h, scale, x, y }, view) {
  const { s, tx, ty, W, H, dpr, pal } = view;
  c.setTransform(1, 0, 0, 1, 0, 0);
  c.clearRect(0, 0, canvas.width, canvas.height);
  c.drawImage(canvas, 0, 0);
  c.setTransform(dpr, 0, 0, dpr, 0, 0);
  const left = x - (tx / s) * scale,
    top = y - (ty / s) * scale;
  const x0 = Math.max(0.75, left),
    y0 = Math.max(0.75, top);
  c.strokeStyle = pal.accent;
  c.lineWidth = 1.5;
  c.strokeRect(
    x0,
    y0,
    Math.min(left + (W / s) * scale, w - 0.75) - x0,
    Math.min(top + (H / s) * scale, h - 0.75) - y0,
  );
}
