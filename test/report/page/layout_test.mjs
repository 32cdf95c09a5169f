import assert from 'node:assert/strict';
import test from 'node:test';

import * as steps from '../../../share/report/layout.js';
import { moduleTree } from '../../../share/report/modules.js';
import { chain, graphOf } from './graphs.mjs';

const { layout, item } = steps;
const rootOf = (...lines) => moduleTree(graphOf(...lines)).root;

/** The boxes, edges and layers of a graph before they have places; boxes and layers by the names of nodes. */
function layered(...lines) {
  const root = rootOf(...lines);
  const items = steps.boxes(root);
  const { edges, inputs, outputs } = steps.connect(root, items);
  const layers = steps.intoLayers(items, inputs, outputs);
  for (const edge of edges) steps.passLayers(edge, layers);
  const named = Object.fromEntries(items.map((it) => [it.kid.id.replace('%', ''), it]));
  return { edges, layers, named };
}
const nameOf = (it) => (it.dummy ? '|' : it.kid.id.replace('%', ''));
const text = (layers) => layers.map((layer) => layer.map(nameOf).join(' ')).join(' / ');

test('each node is below what it reads', () => {
  assert.equal(text(layered('x:', 'a: x', 'b: a', 'c: b a', 'output: c').layers), 'x / a / b | / c / output');
});

test('what reads nothing is right above its reader, the output is last', () => {
  const { layers } = layered('x:', 'w:', 'a: x', 'b: a', 'c: b w', 'output: a');
  assert.equal(text(layers), 'x / a / w b | / c output');
});

test('several values between two boxes are one edge', () => {
  const { edges } = layered('x:', 'a: x @ m', 'b: x @ m', 'c: a b @ n', 'd: c @ n');
  assert.deepEqual(edges.map((edge) => edge.us), [['x'], ['a'], ['b']]); // open modules: each value has its place
  const root = rootOf('x:', 'a: x @ m', 'b: x @ m', 'c: a b @ n', 'd: c @ n');
  for (const kid of root.kids) kid.open = false;
  assert.deepEqual(steps.connect(root, steps.boxes(root)).edges.map((edge) => edge.us), [['x'], ['a', 'b']]);
});

test('what enters and leaves an open module has a port of it', () => {
  const root = rootOf('x:', 'a: x @ m', 'b: a @ m', 'c: b a');
  const module = root.kids.find((kid) => kid.group);
  const { ins, outs, w } = layout(module);
  assert.deepEqual([...ins.keys()], ['x']);
  assert.deepEqual([...outs.keys()], ['b', 'a']);
  for (const from of outs.values()) assert.ok(Math.abs(from) < w / 2);
});

test('edges of one value share the dummies that they pass', () => {
  const { layers } = layered('x:', 'a: x', 'b: a', 'c: b', 'd: c x', 'e: d x');
  assert.equal(text(layers), 'x / a | / b | / c | / d | / e');
});

test('a value with many readers is named where it is read', () => {
  const reads = Array.from({ length: 6 }, (_, i) => `v${i}: ${i ? 'v' + (i - 1) : 'x'} mask`);
  const { edges } = layered('x:', 'mask:', ...reads);
  const stubs = edges.filter((edge) => edge.stub);
  assert.deepEqual([...new Set(stubs.map((edge) => edge.us[0]))], ['mask']);
  assert.ok(stubs.length >= 3);
  for (const edge of stubs) assert.equal(edge.chain.length, 2);
});

test('an edge to an earlier module leads back and moves nothing', () => {
  const { edges } = layered('x:', 'a: x @ m', 'b: a @ n', 'c: b @ m', 'd: c @ n');
  assert.deepEqual(edges.filter((edge) => edge.back).map((edge) => edge.us), [['b']]);
});

test('the order within layers avoids crossings', () => {
  const { layers } = layered('x:', 'y:', 'a: y', 'b: x', 'output: a b');
  steps.orderLayers(layers);
  assert.equal(text(layers), 'y x / a b / output');
});

test('items move to their neighbors, in their order and without overlap', () => {
  const at = (x) => item({ x, w: 10 });
  const layer = [
    item({ x: 0, w: 100, up: [at(300)] }),
    item({ x: 0, w: 100, up: [at(100)] }),
    item({ x: 0, w: 100, up: [at(900)] }),
  ];
  steps.moveToNeighbors(layer, 'up');
  const [a, b, c] = layer.map((it) => it.x);
  assert.equal(c, 900);
  assert.equal((a + b) / 2, 200); // both would be elsewhere: they share what is wrong
  assert.ok(b - a >= 100);
});

test('a single node is below its only neighbor', () => {
  const { layers, named } = layered('x:', 'a: x', 'output: a');
  steps.placeAcross(layers);
  assert.equal(named.a.x, named.x.x);
});

test('a long graph has columns, a short one has none', () => {
  const starts = (length) => {
    const root = moduleTree(chain(length)).root;
    return layout(root).columns.length;
  };
  assert.equal(starts(5), 1);
  assert.ok(starts(100) > 2);
});

test('columns are cut where few edges are', () => {
  const layers = Array.from({ length: 40 }, (_, i) =>
    Array.from({ length: i === 19 ? 1 : 3 }, () => item({ w: 60, h: 30, x: 0, down: [1] })),
  );
  const starts = steps.columnStarts(layers, layers.map(() => 30));
  assert.ok(starts.length > 1);
  assert.ok(starts.includes(20));
});

test('a module is as wide as its name', () => {
  const root = rootOf('x:', 'a: x @ a_module_with_a_very_long_name', 'b: a @ a_module_with_a_very_long_name');
  const module = root.kids.find((kid) => kid.group);
  const { w, items } = layout(module);
  assert.ok(w >= module.name.length * 7);
  for (const it of items) assert.equal(it.x, w / 2);
});

test('no two boxes overlap', () => {
  const lines = ['x:', 'y:'];
  for (let i = 0; i < 120; i++) lines.push(`v${i}: ${['x', 'y', ...lines.slice(2).map((line) => line.split(':')[0])].slice(-1 - (i % 5))[0]}`);
  const { items } = layout(rootOf(...lines));
  for (const [i, a] of items.entries())
    for (const b of items.slice(i + 1))
      assert.ok(Math.abs(a.x - b.x) >= (a.w + b.w) / 2 || a.y + a.h <= b.y || b.y + b.h <= a.y, `${nameOf(a)} ${nameOf(b)}`);
});
