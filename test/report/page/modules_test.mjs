import assert from 'node:assert/strict';
import test from 'node:test';

import { moduleTree } from '../../../share/report/modules.js';
import { graphOf } from './graphs.mjs';

/** "net(%x first(%a %b))" */
const text = (x) => (x.group ? x.name + '(' + x.kids.map(text).join(' ') + ')' : x.id);
const tree = (...lines) => moduleTree(graphOf(...lines));
const crossing = (map) => [...map.values()].map(({ item, u }) => item.id + ' ' + u);

test('nodes are grouped by module', () => {
  const { root, leafOf } = tree('x:', 'a: x @ first', 'b: a @ first', 'output: b');
  assert.equal(text(root), 'net(%x first(%a %b) %output)');
  assert.equal(root.n, 4);
  assert.equal(leafOf.b.parent.depth, 1);
  assert.equal(leafOf.b.depth, 2);
});

test('a module around one node is no group', () => {
  assert.equal(text(tree('x:', 'a: x @ first', 'b: a @ second.relu').root), 'net(%x %a %b)');
});

test('a module that holds nothing but one module joins it', () => {
  assert.equal(text(tree('x:', 'a: x @ net.body.0', 'b: a @ net.body.0').root), 'net(%x net.body.0(%a %b))');
});

test('a number is called after what it counts', () => {
  const { root } = tree('x:', 'a: x @ layers.0', 'b: a @ layers.0', 'c: b @ layers.1', 'd: c @ layers.1');
  assert.equal(text(root), 'net(%x layers(layers.0(%a %b) layers.1(%c %d)))');
});

test('a node between two modules is part of what both are part of', () => {
  const { root } = tree('x:', 'a: x @ m.left', 'b: a', 'c: b @ m.right', 'd: c');
  assert.equal(text(root), 'net(%x m(%a %b %c) %d)');
});

test('a name of JavaScript is a name like others', () => {
  assert.equal(text(tree('x:', 'a: x @ constructor', 'b: a @ constructor').root), 'net(%x constructor(%a %b))');
});

test('a value is an edge where it crosses no border, and known at each border that it crosses', () => {
  const { root, leafOf } = tree('x:', 'a: x @ left', 'b: a @ left', 'c: b @ right', 'd: c a @ right');
  const left = leafOf.a.parent,
    right = leafOf.c.parent;
  assert.deepEqual([...root.edges.values()].map(({ a, b, u }) => [a.id, b.id, u]), [
    ['%x', 'left', 'x'],
    ['left', 'right', 'b'],
    ['left', 'right', 'a'],
  ]);
  assert.deepEqual(crossing(left.ins), ['%a x']);
  assert.deepEqual(crossing(left.outs), ['%b b', '%a a']);
  assert.deepEqual(crossing(right.ins), ['%c b', '%d a']);
});

test('as many modules are open as can be read at once', () => {
  const lines = (length) => Array.from({ length }, (_, i) => `v${i}: ${i ? 'v' + (i - 1) : 'x'} @ m${i >> 4}.${i % 2}`);
  assert.ok(tree('x:', ...lines(64)).root.kids.every((kid) => !kid.group || kid.open));
  const large = tree('x:', ...lines(1600)).root;
  assert.equal(large.kids.length, 101);
  assert.ok(large.kids.filter((kid) => kid.group).every((kid) => !kid.kids[0].open));
});
