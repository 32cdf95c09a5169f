// The layered layout of a module (after Sugiyama, Tagawa and Toda): layers, dummies where an edge passes a layer, order
// within the layers, positions, columns. Nothing here is drawn.

/** The height of an open module's head, with its name. */
export const HEAD = 30;
const NODE = { w: 132, h: 30 };
const GAP = { x: 22, y: 30, dummy: 12, column: 56, bend: 26 };
const PADDING = { side: 14, top: HEAD, bottom: 12, outside: 10 };

/**
 * Lays out a group of modules.js, the modules inside it first: {w, h, items, edges, ins, outs, …}.
 * An item has the center of its top edge, (x, y), and the `inner` layout of an open module; an edge passes the items of
 * its `chain`. `ins` and `outs` are how far from the center each value enters and leaves.
 */
export function layout(group) {
  const items = boxes(group);
  const { edges, inputs, outputs } = connect(group, items);
  const layers = intoLayers(items, inputs, outputs);
  for (const edge of edges) passLayers(edge, layers);
  orderLayers(layers);
  placeAcross(layers);
  return { items, edges, ...stack(group, layers, inputs, outputs) };
}

/** What stands in a layer. `up` and `down` are its neighbors there. */
export const item = (members) => ({ in: [], out: [], up: [], down: [], order: 0, ...members });

/** A box for each kid of the group, in the order of the program. */
export function boxes(group) {
  const kids = [...group.kids].sort((a, b) => a.first - b.first);
  return kids.map((kid, order) => item({ kid, order, ...sizeOf(kid) }));
}

function sizeOf(kid) {
  if (kid.group && kid.open) {
    const inner = layout(kid);
    return { inner, w: inner.w, h: inner.h };
  }
  if (kid.group) return { w: Math.max(NODE.w, 70 + kid.name.length * 7.2), h: 38 };
  if (kid.node.kind !== 'op') return { w: Math.max(84, 28 + (kid.node.label || kid.node.id).length * 6.6), h: 26 };
  return NODE;
}

/** Edges between boxes, and ports where values enter and leave the group. Several values between two boxes are one edge. */
export function connect(group, items) {
  const boxOf = new Map(items.map((it) => [it.kid, it]));
  const edges = new Map(),
    inputs = new Map(),
    outputs = new Map();
  const port = (ports, u, order) => {
    if (!ports.has(u)) ports.set(u, item({ port: true, w: 1, h: 0, order }));
    return ports.get(u);
  };
  const join = (a, b, u) => {
    // Into and out of an open module each value has its own place.
    const key = a.order + ',' + b.order + (a.inner || b.inner ? ',' + u : '');
    if (edges.has(key)) {
      edges.get(key).us.push(u);
      return;
    }
    const edge = { a, b, us: [u], from: a.inner?.outs.get(u) ?? 0, to: b.inner?.ins.get(u), back: a.order > b.order };
    edges.set(key, edge);
    if (edge.back) return;
    a.out.push(edge);
    b.in.push(edge);
  };
  for (const { item: reader, u } of group.ins.values()) join(port(inputs, u, -1 - inputs.size), boxOf.get(reader), u);
  for (const { a, b, u } of group.edges.values()) join(boxOf.get(a), boxOf.get(b), u);
  for (const { item: maker, u } of group.outs.values())
    join(boxOf.get(maker), port(outputs, u, items.length + outputs.size), u);
  return { edges: [...edges.values()], inputs, outputs };
}

/** Each box below what it reads, ports at the top and at the bottom. */
export function intoLayers(items, inputs, outputs) {
  const top = inputs.size ? 1 : 0;
  for (const port of inputs.values()) port.layer = 0;
  let last = top;
  for (const it of items) {
    it.layer = Math.max(top, ...it.in.map((edge) => edge.a.layer + 1));
    last = Math.max(last, it.layer);
  }
  // What reads nothing stands right above its first reader.
  for (const it of [...items].reverse())
    if (!it.in.length && it.out.length)
      it.layer = Math.max(top, Math.min(...it.out.map((edge) => (edge.b.port ? last + 1 : edge.b.layer))) - 1);
  for (const it of items) if (it.kid.node && it.kid.node.kind === 'output') it.layer = last;
  const bottom = outputs.size ? last + 1 : last;
  for (const port of outputs.values()) port.layer = bottom;
  const layers = Array.from({ length: bottom + 1 }, () => []);
  for (const it of [...inputs.values(), ...items, ...outputs.values()]) layers[it.layer].push(it);
  return layers;
}

/** The edge's chain: its two ends, and a dummy in each layer between them. Edges of one value share their dummies. */
export function passLayers(edge, layers) {
  const { a, b, from } = edge;
  edge.chain = [a, b];
  if (edge.back) return;
  // What very many read (a mask, a table) is named where it is read: its lines would hide the graph.
  edge.stub = b.layer - a.layer > 2 && a.out.length > 5;
  if (edge.stub) return;
  a.trunk ??= [];
  let before = a;
  for (let layer = a.layer + 1; layer < b.layer; layer++) {
    let dummy = a.trunk[layer];
    if (!dummy || dummy.from !== from) {
      dummy = a.trunk[layer] = item({ dummy: true, w: 8, h: 0, layer, from, up: [before] });
      before.down.push(dummy);
      layers[layer].push(dummy);
    }
    edge.chain.splice(-1, 0, dummy);
    before = dummy;
  }
  before.down.push(b);
  b.up.push(before);
}

const mean = (items, member) => items.reduce((sum, it) => sum + it[member], 0) / items.length;

/** Runs `visit(layer, side)` down and up through the layers, for neighbors above and below. */
function sweep(layers, times, visit) {
  for (let i = 0; i < times; i++) {
    for (const layer of layers.slice(1)) visit(layer, 'up');
    for (const layer of layers.slice(0, -1).reverse()) visit(layer, 'down');
  }
}

/** Orders each layer by the barycenters of its items' neighbors, so that few edges cross. */
export function orderLayers(layers) {
  const number = (layer) => layer.forEach((it, i) => (it.position = i));
  layers.forEach(number);
  sweep(layers, 4, (layer, side) => {
    for (const it of layer) it.barycenter = it[side].length ? mean(it[side], 'position') : it.position;
    layer.sort((a, b) => a.barycenter - b.barycenter || a.order - b.order);
    number(layer);
  });
}

/** Centers of all items, from left to right: first side by side, then near their neighbors. */
export function placeAcross(layers) {
  for (const layer of layers) {
    let right = 0;
    for (const it of layer) {
      it.x = right + it.w / 2;
      right += it.w + GAP.x;
    }
    for (const it of layer) it.x -= right / 2;
  }
  sweep(layers, 3, moveToNeighbors);
}

/** Moves each item to the mean of its neighbors: least squares under the order of the layer (pool adjacent violators). */
export function moveToNeighbors(layer, side) {
  const blocks = [];
  let offset = 0;
  layer.forEach((it, i) => {
    if (i) offset += layer[i - 1].w / 2 + it.w / 2 + (it.dummy ? GAP.dummy : GAP.x);
    it.offset = offset;
    const near = it[side];
    const weight = near.length ? (it.dummy ? 3 : 1) : 0.3;
    blocks.push({ sum: ((near.length ? mean(near, 'x') : it.x) - offset) * weight, weight, items: [it] });
    while (blocks.length > 1) {
      const [left, right] = blocks.slice(-2);
      if (left.sum / left.weight <= right.sum / right.weight) break;
      left.sum += right.sum;
      left.weight += right.weight;
      left.items.push(...right.items);
      blocks.pop();
    }
  });
  for (const { sum, weight, items } of blocks) for (const it of items) it.x = sum / weight + it.offset;
}

/** The left and the right end of what is in these layers. */
function extent(layers) {
  let left = 1e9,
    right = -1e9;
  for (const it of layers.flat()) {
    left = Math.min(left, it.x - it.w / 2);
    right = Math.max(right, it.x + it.w / 2);
  }
  return [left, right];
}

/** The first layer of each column: a long graph is folded where few edges are cut. */
export function columnStarts(layers, heights) {
  const [left, right] = extent(layers);
  const width = right - left + 60;
  const height = heights.reduce((sum, h) => sum + h + GAP.y, 0);
  const columns = Math.min(40, Math.round(Math.sqrt((height * 1.75) / width)));
  const starts = [0];
  if (height <= 1100 || columns <= 1 || height <= width * 2.2) return starts;
  const each = height / columns;
  let y = 0,
    wanted = each,
    best = null;
  layers.forEach((layer, i) => {
    y += heights[i] + GAP.y;
    const cut = layer.filter((it) => it.down.length).length + layer.filter((it) => it.dummy).length;
    const cost = cut + Math.abs(y - wanted) / (each * 0.16);
    if (i < layers.length - 2 && y > wanted - each * 0.3 && (!best || cost < best.cost)) best = { next: i + 1, cost, y };
    if (y > wanted + each * 0.22 && best) {
      starts.push(best.next);
      wanted = best.y + each;
      best = null;
    }
  });
  return starts;
}

/** Gives all items their places, layers below each other, columns side by side, and says how large the whole is. */
function stack(group, layers, inputs, outputs) {
  const heights = layers.map((layer) => Math.max(0, ...layer.map((it) => it.h)));
  const starts = columnStarts(layers, heights);
  const bend = starts.length > 1 ? GAP.bend : 0; // room for the edges from column to column
  const top = group.parent ? PADDING.top : PADDING.outside;
  const gapBelow = (i) => {
    if (i === 0 && inputs.size) return 12;
    return i === layers.length - 2 && outputs.size ? 10 : GAP.y;
  };
  const columnOf = [],
    columns = [];
  let right = PADDING.side,
    bottom = 0;
  starts.forEach((from, column) => {
    const to = starts[column + 1] ?? layers.length;
    const [left, end] = extent(layers.slice(from, to));
    if (column) right += GAP.column;
    let y = top + bend;
    for (let i = from; i < to; i++) {
      columnOf[i] = column;
      for (const it of layers[i]) {
        it.x += right - left;
        it.y = y;
        if (it.dummy) it.h = heights[i];
      }
      y += heights[i] + (i < to - 1 ? gapBelow(i) : 0);
    }
    columns.push([right, right + end - left]);
    right += end - left;
    bottom = Math.max(bottom, y);
  });
  const h = bottom + bend + (group.parent ? PADDING.bottom : PADDING.outside);
  const w = centered(layers, right + PADDING.side, group.parent ? group.name.length * 7 + 60 : 0);
  const across = (ports, y) =>
    new Map([...ports].map(([u, port]) => [u, Object.assign(port, { y }).x - w / 2]));
  return { w, h, top, bottom, columnOf, columns, ins: across(inputs, 0), outs: across(outputs, h) };
}

/** The width, at least that of the group's name, in whose middle all is then. */
function centered(layers, width, least) {
  if (width >= least) return width;
  for (const it of layers.flat()) it.x += (least - width) / 2;
  return least;
}
