// Where everything of a graph that is open lies: boxes and the lines of edges, in one system of coordinates.
import { layout } from './layout.js';

/**
 * {boxes, edges, w, h} of a tree of modules.js; each kid that is seen has its `box` from then on. The points of an edge
 * are p: x, y and 1 where a straight line leads to it, in turn.
 */
export function scene(tree) {
  const whole = layout(tree.root);
  const all = { boxes: [], edges: [], w: whole.w, h: whole.h };
  add(whole, 0, 0, all);
  return all;
}

function add(lay, ox, oy, all) {
  for (const { kid, x, y, w, h, inner } of lay.items) {
    kid.box = { x: ox + x - w / 2, y: oy + y, w, h, k: kid };
    all.boxes.push(kid.box);
    if (inner) add(inner, kid.box.x, kid.box.y, all);
  }
  const lanes = { used: 0 };
  for (const edge of lay.edges) {
    const p = edge.stub ? stub(edge, ox, oy) : line(edge, lay, lanes, ox, oy);
    const { us, a, b, stub: named, back } = edge;
    all.edges.push({ p, us, a: a.kid, b: b.kid, stub: named, back, ...bounds(p) });
  }
}

/** A short line above the reader of a value that is named there; several stand side by side. */
function stub({ b, to }, ox, oy) {
  b.stubs = (b.stubs || 0) + 1;
  const x = ox + b.x + (to ?? 16 + 6 * b.stubs - b.w / 2),
    y = oy + b.y;
  return [x, y - 12, 0, x, y, 1];
}

/** The line through the edge's chain. */
function line({ chain, from, to }, lay, lanes, ox, oy) {
  const p = [];
  chain.forEach((it, i) => {
    const before = chain[i - 1],
      end = i === chain.length - 1;
    const x = ox + it.x + (i === 0 ? from : end ? (to ?? 0) : 0),
      y = oy + it.y;
    if (before && before.layer < it.layer && lay.columnOf[before.layer] !== lay.columnOf[it.layer])
      p.push(...toNextColumn(p[p.length - 3], x, lay, lay.columnOf[it.layer], lanes, ox, oy));
    if (i > 0) p.push(x, y, 0);
    if (!end && !it.dummy) p.push(x, y + it.h, 0);
    if (!end && it.dummy && it.h) p.push(x, y + it.h, 1);
  });
  return p;
}

/** Below its column, up between the two, and over the next one to `x`. A few lanes keep such edges apart. */
function toNextColumn(last, x, lay, column, lanes, ox, oy) {
  const apart = 10 + (lanes.used++ % 4) * 5;
  const between = ox + lay.columns[column - 1][1] + 14 + (lanes.used % 4) * 8;
  const below = oy + lay.bottom + apart,
    above = oy + lay.top + apart - 4;
  return [last, below, 1, between, below, 1, between, above, 1, x, above, 1];
}

function bounds(p) {
  const xs = p.filter((_, i) => i % 3 === 0),
    ys = p.filter((_, i) => i % 3 === 1);
  return { x0: Math.min(...xs), x1: Math.max(...xs), y0: Math.min(...ys), y1: Math.max(...ys) };
}
