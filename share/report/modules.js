// A graph's modules as a tree: groups of nodes by module path, with the edges at each level. Nothing here is drawn.

/** How many boxes are readable at once: as many modules are open at first. */
const READABLE = 180;

/** {root, leafOf: the leaf of each node by its id}. A group has kids: groups and leaves {node}; each knows its parent. */
export function moduleTree(g) {
  const root = group('', g.name, null);
  root.open = true;
  addKids(root, g.nodes);
  joinChains(root);
  const leafOf = {};
  measure(root, leafOf);
  addEdges(g.nodes, leafOf);
  openReadable(root);
  return { root, leafOf };
}

/** `edges` join two kids, `ins` and `outs` are kids that read or make what crosses the group's border. */
const group = (id, name, parent) => ({
  id,
  name,
  parent,
  kids: [],
  group: true,
  open: false,
  edges: new Map(),
  ins: new Map(),
  outs: new Map(),
});

/** The module of each node as a list of names. Modules run one after the other: what is between two belongs to both. */
function modulePaths(nodes) {
  const own = nodes.map((n) => (n.mod ? n.mod.split('.') : []));
  const next = [];
  own.reduceRight((after, path, i) => ((next[i] = after), path.length ? path : after), null);
  let before = null;
  return own.map((path, i) => {
    if (path.length) return (before = path);
    return nodes[i].kind === 'op' && before && next[i] ? commonParent(before, next[i]) : [];
  });
}

/** The innermost module that both are part of. */
function commonParent(a, b) {
  let k = 0;
  while (k < a.length && a[k] === b[k]) k++;
  return a.slice(0, k === a.length && k === b.length ? k - 1 : k);
}

/** Nodes by module path; a module around one node only is no group. */
function addKids(root, nodes) {
  const paths = modulePaths(nodes);
  const keys = paths.map((path) => path.map((_, i) => path.slice(0, i + 1).join('.')));
  const count = new Map();
  for (const key of keys.flat()) count.set(key, (count.get(key) || 0) + 1);
  const groups = new Map();
  nodes.forEach((node, at) => {
    let parent = root;
    for (const [i, key] of keys[at].entries()) {
      if (count.get(key) < 2) break;
      if (!groups.has(key)) {
        const [name, outer] = [paths[at][i], paths[at][i - 1]];
        groups.set(key, group(key, /^\d+$/.test(name) && outer ? outer + '.' + name : name, parent));
        parent.kids.push(groups.get(key));
      }
      parent = groups.get(key);
    }
    parent.kids.push({ node, id: '%' + node.id, parent, first: at });
  });
}

/** A module that holds nothing but one module joins it. */
function joinChains(x) {
  x.kids = x.kids.map((kid) => {
    while (kid.group && kid.kids.length === 1 && kid.kids[0].group) {
      const inner = kid.kids[0];
      inner.name = kid.name + inner.id.slice(kid.id.length);
      inner.parent = x;
      kid = inner;
    }
    if (kid.group) joinChains(kid);
    return kid;
  });
}

/** Counts the nodes of each group (`n`) and finds its depth and its first node. */
function measure(x, leafOf, depth = 0) {
  x.depth = depth;
  x.n = 0;
  for (const kid of x.kids) {
    if (kid.group) measure(kid, leafOf, depth + 1);
    else {
      kid.depth = depth + 1;
      leafOf[kid.node.id] = kid;
    }
    x.n += kid.group ? kid.n : 1;
  }
  x.first = Math.min(...x.kids.map((kid) => kid.first));
}

/** Each value at each level of the tree that it crosses: {a, b, u} from a to b, or {item, u} across a border. */
function addEdges(nodes, leafOf) {
  const put = (map, item, u) => map.set(item.id + '\0' + u, { item, u });
  for (const n of nodes)
    for (const u of n.in) {
      let a = leafOf[u],
        b = leafOf[n.id];
      if (!a) continue;
      while (a.parent !== b.parent) {
        const [up, down] = [a.depth >= b.depth, b.depth >= a.depth];
        if (up) {
          put(a.parent.outs, a, u);
          a = a.parent;
        }
        if (down) {
          put(b.parent.ins, b, u);
          b = b.parent;
        }
      }
      a.parent.edges.set(a.id + '\0' + b.id + '\0' + u, { a, b, u });
    }
}

/** Opens level by level as long as all is readable at once. */
function openReadable(root) {
  let visible = root.kids.length;
  let level = root.kids.filter((kid) => kid.group);
  while (level.length) {
    visible += level.reduce((sum, x) => sum + x.kids.length - 1, 0);
    if (visible > READABLE) return;
    for (const x of level) x.open = true;
    level = level.flatMap((x) => x.kids.filter((kid) => kid.group));
  }
}
