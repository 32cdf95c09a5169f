// The graph view: its canvas, mouse, keys and zoom.
import { ACC, CLOSE, D, G, go, mainGraph } from './data.js';
import { CLASS_COLORS, draw, drawThumbnail, palette, thumbnail } from './drawing.js';
import { h, say } from './elements.js';
import { facts } from './inspector.js';
import { HEAD } from './layout.js';
import { moduleTree } from './modules.js';
import { scene } from './routes.js';
import { plural } from './words.js';

const ROOM = { side: 30, top: 58, bottom: 52 }; // around a graph that fits, for what lies over the canvas

const segment = (label, ...buttons) => h('div.seg', { role: 'group', 'aria-label': label }, buttons);
const button = (text, onclick, label) => h('button', { onclick, 'aria-label': label }, text);

export const graph = {
  title: 'Graph',
  key: '2',
  fill: true,
  mode: 'op',
  s: 1,
  tx: 0,
  ty: 0,
  build(el) {
    el.classList.add('g');
    this.cv = h('canvas.main', {
      tabindex: 0,
      role: 'application',
      'aria-label':
        'Graph. Arrows move along edges, Enter opens and closes modules, plus and minus zoom, f fits, slash searches.',
    });
    this.ctx = this.cv.getContext('2d', { alpha: false });
    this.mini = h('canvas.mini', { 'aria-hidden': 'true' });
    this.insp = h('aside.insp', { 'aria-label': 'Selected' });
    this.sel = h(
      'select.btn',
      { 'aria-label': 'Graph', onchange: () => go('graph=' + this.sel.value) },
      D.graphs.map((g) => h('option', { value: g.name }, (g.failure ? '✕ ' : '') + g.name + ' · ' + plural(g.ops, 'op'))),
    );
    this.modes = { op: button('Operation', () => this.colorBy('op')), heat: button('Error', () => this.colorBy('heat')) };
    this.legend = h('div.legend');
    const modules = segment('Modules', button('Collapse', () => this.all(false)), button('Expand all', () => this.all(true)));
    const zoom = segment(
      'Zoom',
      button('−', () => this.zoomBy(0.8), 'Zoom out'),
      button('Fit', () => this.fit(), 'Fit'),
      button('+', () => this.zoomBy(1.25), 'Zoom in'),
    );
    const bar = h('div.bar1', this.sel, segment('Color by', Object.values(this.modes)), modules);
    el.append(h('div.gc', this.cv, bar, this.mini, h('div.zoom', zoom, this.legend)), this.insp);
    new ResizeObserver(() => this.size()).observe(this.cv.parentElement);
    this.listen(this.cv);
    this.listenToMini(this.mini);
  },
  /** The mouse: a drag pans, a click selects, opens and closes, the wheel zooms. */
  listen(cv) {
    let drag = null,
      moved = 0;
    cv.onpointerdown = (e) => {
      drag = [e.clientX, e.clientY];
      moved = 0;
      cv.setPointerCapture(e.pointerId);
      cv.classList.add('drag');
    };
    cv.onpointermove = (e) => {
      if (!drag) return this.hoverOver(this.hit(e.offsetX, e.offsetY));
      const [dx, dy] = [e.clientX - drag[0], e.clientY - drag[1]];
      moved += Math.abs(dx) + Math.abs(dy);
      drag = [e.clientX, e.clientY];
      this.pan(dx, dy);
    };
    cv.onpointerup = (e) => {
      cv.classList.remove('drag');
      drag = null;
      if (moved < 4) this.clicked(this.hit(e.offsetX, e.offsetY), e.offsetY);
    };
    cv.onpointerleave = () => this.hoverOver(null);
    cv.onkeydown = (e) => this.pressed(e.key) && e.preventDefault();
    cv.addEventListener(
      'wheel',
      (e) => {
        e.preventDefault();
        if (e.shiftKey) this.pan(-e.deltaY, 0);
        else this.zoomAt(e.offsetX, e.offsetY, Math.exp(-e.deltaY * (e.ctrlKey ? 0.012 : 0.0016)));
      },
      { passive: false },
    );
  },
  /** The thumbnail in the corner: where it is pressed is the middle of the view. */
  listenToMini(mini) {
    const center = (e) => {
      const box = mini.getBoundingClientRect(),
        { x, y, scale } = this.thumb;
      this.center((e.clientX - box.left - x) / scale, (e.clientY - box.top - y) / scale);
      this.paint();
    };
    mini.onpointerdown = (e) => {
      mini.setPointerCapture(e.pointerId);
      center(e);
      mini.onpointermove = center;
    };
    mini.onpointerup = () => {
      mini.onpointermove = null;
    };
  },
  hoverOver(box) {
    if (box === this.hov) return;
    this.hov = box;
    this.cv.style.cursor = box ? 'pointer' : '';
    this.paint();
  },
  clicked(box, y) {
    if (!box) {
      if (this.node) go('graph=' + this.g.name);
    } else if (!box.k.group) this.select(box.k.node.id);
    else if (!box.k.open || this.inHead(box, y)) this.toggle(box.k);
  },
  /** Whether the key means something here. */
  pressed(key) {
    const step = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[key];
    if (key === '+' || key === '=') this.zoomBy(1.25);
    else if (key === '-') this.zoomBy(0.8);
    else if (key === 'f') this.fit();
    else if (key === 'Enter' && this.node) {
      const around = this.tree.leafOf[this.node.id].parent;
      if (around.parent) this.toggle(around);
    } else if (!step) return false;
    else if (this.node) this.walk(key);
    else this.pan(...step);
    return true;
  },
  /** From the selected node along an edge, or to the next node that reads the same. */
  walk(key) {
    const n = this.node,
      users = (ids) => ids.flatMap((id) => this.g.byId[id].users);
    let to;
    if (key === 'ArrowDown') to = n.users[0];
    else if (key === 'ArrowUp') to = n.in[n.in.length - 1];
    else {
      const beside = n.in.length ? users(n.in) : n.users.flatMap((id) => this.g.byId[id].in);
      to = beside[(beside.indexOf(n.id) + (key === 'ArrowRight' ? 1 : beside.length - 1)) % beside.length];
    }
    if (to) this.select(to);
  },
  select(id) {
    go('graph=' + this.g.name + '&node=' + id);
  },
  show(p) {
    const g = G[p.graph] || G[mainGraph()];
    if (!g) return;
    if (this.g !== g) this.open(g);
    this.node = p.node ? g.byId[p.node] : null;
    if (this.node) this.openAround(this.tree.leafOf[this.node.id].parent);
    if (!this.W) this.size();
    if (!this.fitted) this.fit();
    if (this.node) this.reveal();
    this.insp.replaceChildren(...facts(g, this.node));
    this.insp.scrollTop = 0;
    this.paint();
  },
  open(g) {
    this.g = g;
    this.tree = g.tree ??= moduleTree(g);
    this.sel.value = g.name;
    this.fitted = false;
    const { first, nan_born: born } = D.accuracy[g.name] || {};
    this.modes.heat.hidden = !ACC[g.name];
    this.relayout();
    this.colorBy(first || born ? 'heat' : 'op');
  },
  /** Opens this module and those around it. */
  openAround(group) {
    let closed = false;
    for (let x = group; x; x = x.parent) {
      closed ||= !x.open;
      x.open = true;
    }
    if (closed) this.relayout();
  },
  colorBy(mode) {
    this.mode = mode;
    for (const [name, b] of Object.entries(this.modes)) b.classList.toggle('on', name === mode);
    const classes = Object.entries(CLASS_COLORS).filter(([name]) => name !== 'in / out');
    const colors = mode === 'op' ? classes.map(([name, k]) => [name, `var(--k${k})`]) : Object.values(CLOSE);
    this.legend.replaceChildren(...colors.map(([name, color]) => h('span', h('i', { style: 'background:' + color }), name)));
    this.paint();
  },
  relayout() {
    this.scene = scene(this.tree);
    this.thumb = null;
  },
  /** Opens or closes a module, whose corner stays where it is. */
  toggle(k) {
    const { x, y } = k.box;
    k.open = !k.open;
    this.relayout();
    this.pan((x - k.box.x) * this.s, (y - k.box.y) * this.s);
    say((k.open ? 'opened ' : 'closed ') + k.id);
  },
  all(open) {
    const set = (x) => {
      for (const kid of x.kids.filter((k) => k.group)) {
        kid.open = open;
        set(kid);
      }
    };
    set(this.tree.root);
    this.relayout();
    this.fit();
  },
  /** As large as the canvas is; the pixels of the screen count. */
  size() {
    const { width, height } = this.cv.parentElement.getBoundingClientRect();
    if (!width) return;
    this.dpr = Math.min(2, devicePixelRatio || 1);
    this.W = width;
    this.H = height;
    this.cv.width = width * this.dpr;
    this.cv.height = height * this.dpr;
    if (!this.scene) return;
    if (!this.fitted) this.fit();
    this.paint();
  },
  fit() {
    if (!this.W) return;
    const { w, h: height } = this.scene,
      free = this.H - ROOM.top - ROOM.bottom;
    this.s = Math.min((this.W - 2 * ROOM.side) / w, free / height, 1.25);
    this.tx = (this.W - w * this.s) / 2;
    this.ty = ROOM.top + Math.max(0, (free - height * this.s) / 2);
    this.fitted = true;
    this.paint();
  },
  pan(dx, dy) {
    this.tx += dx;
    this.ty += dy;
    this.paint();
  },
  /** Puts a place of the scene into the middle of the view. */
  center(x, y) {
    this.tx = this.W / 2 - x * this.s;
    this.ty = this.H / 2 - y * this.s;
  },
  zoomBy(factor) {
    this.zoomAt(this.W / 2, this.H / 2, factor);
  },
  /** The place (x, y) of the view stays where it is. */
  zoomAt(x, y, factor) {
    const s = Math.max(0.01, Math.min(4, this.s * factor)),
      f = s / this.s;
    this.tx = x - (x - this.tx) * f;
    this.ty = y - (y - this.ty) * f;
    this.s = s;
    this.paint();
  },
  /** Moves the view where the selected node is not to be seen, or not to be read. */
  reveal() {
    const b = this.tree.leafOf[this.node.id].box;
    if (!b || !this.W) return;
    const small = this.s < 0.55;
    if (small) this.s = 0.95;
    const x = b.x * this.s + this.tx,
      y = b.y * this.s + this.ty;
    if (small || x < 40 || x + b.w * this.s > this.W - 40 || y < 70 || y > this.H - 90)
      this.center(b.x + b.w / 2, b.y + b.h / 2);
  },
  inHead(b, y) {
    return (y - this.ty) / this.s - b.y < Math.max(HEAD, 20 / this.s);
  },
  /** The innermost box at a place of the view. */
  hit(x, y) {
    const [X, Y] = [(x - this.tx) / this.s, (y - this.ty) / this.s];
    const hit = this.scene.boxes.filter((b) => X >= b.x && X <= b.x + b.w && Y >= b.y && Y <= b.y + b.h);
    return hit.pop() || null;
  },
  paint() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.drawNow();
    });
  },
  drawNow() {
    if (!this.W || !this.scene) return;
    this.pal ||= palette();
    draw(this.ctx, this);
    const { w, h: height } = this.scene;
    const whole = this.tx >= 0 && this.ty >= 0 && this.tx + w * this.s <= this.W && this.ty + height * this.s <= this.H;
    this.mini.hidden = whole;
    if (whole) return;
    if (!this.thumb) {
      this.thumb = thumbnail(this);
      this.mini.width = this.thumb.canvas.width;
      this.mini.height = this.thumb.canvas.height;
      this.mini.style.width = this.thumb.w + 'px';
      this.mini.style.height = this.thumb.h + 'px';
    }
    drawThumbnail(this.mini.getContext('2d'), this.thumb, this);
  },
  /** The colors of the page are others now. */
  theme() {
    this.pal = null;
    this.thumb = null;
    if (this.scene) this.paint();
  },
  /** A picture of the whole graph, for printing. */
  snapshot(w, height) {
    const { scene: all } = this,
      cv = h('canvas', { width: w * 2, height: height * 2 });
    const s = Math.min((w - 40) / all.w, (height - 40) / all.h, 1.4);
    const fitted = { W: w, H: height, dpr: 2, s, tx: (w - all.w * s) / 2, ty: (height - all.h * s) / 2 };
    draw(cv.getContext('2d'), { ...this, ...fitted, pal: palette(), node: null, hov: null });
    return h('img.pr', { alt: 'graph ' + this.g.name, src: cv.toDataURL() });
  },
};
