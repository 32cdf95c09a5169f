import assert from 'node:assert/strict';
import test from 'node:test';

import { moduleTree } from '../../../share/report/modules.js';
import { scene } from '../../../share/report/routes.js';
import { chain, graphOf } from './graphs.mjs';

const sceneOf = (g) => {
  const tree = moduleTree(g);
  return { ...scene(tree), boxOf: (id) => tree.leafOf[id].box };
};
const ends = ({ p }) => ({ from: p.slice(0, 2), to: p.slice(-3, -1) });
const edge = (edges, from, to) => edges.find((e) => e.a && e.b && e.a.id === '%' + from && e.b.id === '%' + to);

test('a box is inside of that of its module', () => {
  const { boxes, boxOf, w, h } = sceneOf(graphOf('x:', 'a: x @ m.n', 'b: a @ m.n', 'c: b @ m', 'output: c'));
  const inside = (b, { x, y, w: width, h: height }) =>
    b.x >= x && b.y >= y && b.x + b.w <= x + width && b.y + b.h <= y + height;
  for (const b of boxes) {
    assert.ok(inside(b, { x: 0, y: 0, w, h }));
    assert.ok(!b.k.parent.box || inside(b, b.k.parent.box));
  }
  assert.equal(boxOf('a').k.node.id, 'a');
});

test('an edge leads from the bottom of what makes a value to the top of what reads it', () => {
  const { edges, boxOf } = sceneOf(graphOf('x:', 'a: x', 'b: a', 'c: b a'));
  const middle = (b) => b.x + b.w / 2;
  for (const [from, to] of [['x', 'a'], ['a', 'b'], ['a', 'c']]) {
    const line = ends(edge(edges, from, to));
    assert.deepEqual(line.from, [middle(boxOf(from)), boxOf(from).y + boxOf(from).h]);
    assert.deepEqual(line.to, [middle(boxOf(to)), boxOf(to).y]);
  }
});

test('the lines of a value meet at the border of a module', () => {
  const { edges } = sceneOf(graphOf('x:', 'a: x @ m', 'b: a @ m'));
  const outside = edges.find((e) => e.b && e.b.id === 'm'),
    inside = edges.find((e) => !e.a && e.b.id === '%a');
  assert.deepEqual(ends(outside).to, ends(inside).from);
});

test('an edge to the next column turns three times and stays on straight lines', () => {
  const { edges } = sceneOf(chain(100));
  const turning = edges.filter((e) => e.p.length > 6);
  assert.ok(turning.length > 1);
  for (const { p } of turning) for (let i = 3; i < 15; i += 3) assert.ok(p[i] === p[i - 3] || p[i + 1] === p[i - 2]);
});

test('the bounds of an edge hold all of its points', () => {
  for (const { p, x0, x1, y0, y1 } of sceneOf(chain(100)).edges)
    for (let i = 0; i < p.length; i += 3) assert.ok(p[i] >= x0 && p[i] <= x1 && p[i + 1] >= y0 && p[i + 1] <= y1);
});

test('a value that is named instead of drawn ends above each of its readers, side by side', () => {
  const reads = Array.from({ length: 9 }, (_, i) => `v${i}: ${i ? 'v' + (i - 1) : 'x'} mask bias`);
  const { edges, boxOf } = sceneOf(graphOf('x:', 'mask:', 'bias:', ...reads));
  const stubs = edges.filter((e) => e.stub && e.b.id === '%v8');
  assert.deepEqual(stubs.map((e) => e.us[0]), ['mask', 'bias']);
  for (const e of stubs) assert.equal(e.y1, boxOf('v8').y);
  assert.notEqual(stubs[0].x0, stubs[1].x0);
});
