// The graph view: canvas, mouse, keys, zoom. drawing.js draws, inspector.js tells what is selected.
/** The class of a node's value against the reference, of a module the worst of what is in it; undefined: not compared. */
const WORST = ['nan', 'differs', 'rounding', 'same'];
function closenessIn(g, k) {
  if (!ACC[g.name]) return undefined;
  if (!k.group) return ACC[g.name][k.node.id] && closenessOf(ACC[g.name][k.node.id]);
  if (!('worst' in k)) k.worst = WORST[Math.min(...k.kids.map((x) => (WORST.indexOf(closenessIn(g, x)) + 5) % 5))];
  return k.worst;
}
V.graph = {
  title: 'Graph',
  key: '2',
  fill: true,
  build(el) {
    el.classList.add('g');
    const cv = h('canvas.main', {
      tabindex: 0,
      role: 'application',
      'aria-label':
        'Graph. Arrows walk along edges, Enter opens and closes modules, plus and minus zoom, f fits, slash searches.',
    });
    const mini = h('canvas.mini', { 'aria-hidden': 'true' }),
      insp = h('aside.insp', { 'aria-label': 'Selected' });
    const sel = h(
      'select.btn',
      { 'aria-label': 'Graph', onchange: () => go('graph=' + sel.value) },
      D.graphs.map((g) => h('option', { value: g.name }, (g.failure ? '✕ ' : '') + g.name + ' · ' + plural(g.ops, 'op'))),
    );
    const seg = h('div.seg', { role: 'group', 'aria-label': 'Colour by' }),
      legend = h('div.legend');
    const modes = [
      ['op', 'Operation'],
      ['heat', 'Error'],
    ];
    this.mode = 'op';
    for (const [m, t] of modes)
      seg.append(
        h(
          'button',
          {
            onclick: () => {
              this.mode = m;
              this.paint();
              this.legend();
            },
          },
          t,
        ),
      );
    const zoomBy = (f) => this.zoomAt(this.W / 2, this.H / 2, f);
    const lv = h(
      'div.seg',
      { role: 'group', 'aria-label': 'Modules' },
      h('button', { onclick: () => this.all(false) }, 'Collapse'),
      h('button', { onclick: () => this.all(true) }, 'Expand all'),
    );
    el.append(
      h(
        'div.gc',
        cv,
        h('div.bar1', sel, seg, lv),
        mini,
        h(
          'div.zoom',
          h(
            'div.seg',
            h('button', { 'aria-label': 'Zoom out', onclick: () => zoomBy(0.8) }, '−'),
            h('button', { 'aria-label': 'Fit', onclick: () => this.fit() }, 'Fit'),
            h('button', { 'aria-label': 'Zoom in', onclick: () => zoomBy(1.25) }, '+'),
          ),
          legend,
        ),
      ),
      insp,
    );
    Object.assign(this, {
      cv,
      mini,
      insp,
      sel,
      seg,
      legendEl: legend,
      ctx: cv.getContext('2d', { alpha: false }),
      s: 1,
      tx: 0,
      ty: 0,
    });
    const size = () => {
      const r = cv.parentElement.getBoundingClientRect();
      if (!r.width) return;
      const d = (this.dpr = Math.min(2, devicePixelRatio || 1));
      this.W = r.width;
      this.H = r.height;
      cv.width = r.width * d;
      cv.height = r.height * d;
      if (this.scene) {
        if (!this.fitted) this.fit();
        this.paint();
      }
    };
    new ResizeObserver(size).observe(cv.parentElement);
    this.size = size;
    let drag = null,
      moved = 0;
    cv.onpointerdown = (e) => {
      drag = [e.clientX, e.clientY];
      moved = 0;
      cv.setPointerCapture(e.pointerId);
      cv.classList.add('drag');
    };
    cv.onpointermove = (e) => {
      if (drag) {
        this.tx += e.clientX - drag[0];
        this.ty += e.clientY - drag[1];
        moved += Math.abs(e.clientX - drag[0]) + Math.abs(e.clientY - drag[1]);
        drag = [e.clientX, e.clientY];
        this.paint();
      } else {
        const b = this.hit(e.offsetX, e.offsetY);
        if (b !== this.hov) {
          this.hov = b;
          cv.style.cursor = b ? 'pointer' : '';
          this.paint();
        }
      }
    };
    cv.onpointerup = (e) => {
      cv.classList.remove('drag');
      if (moved < 4) {
        const b = this.hit(e.offsetX, e.offsetY);
        if (b) {
          const k = b.k;
          if (k.group && (!k.open || this.inHead(b, e.offsetY))) this.toggle(k);
          else if (!k.group) go('graph=' + this.g.name + '&node=' + k.node.id);
        } else if (this.node) go('graph=' + this.g.name);
      }
      drag = null;
    };
    cv.onpointerleave = () => {
      if (this.hov) {
        this.hov = null;
        this.paint();
      }
    };
    cv.addEventListener(
      'wheel',
      (e) => {
        e.preventDefault();
        if (e.shiftKey) {
          this.tx -= e.deltaY;
          this.paint();
        } else this.zoomAt(e.offsetX, e.offsetY, Math.exp(-e.deltaY * (e.ctrlKey ? 0.012 : 0.0016)));
      },
      { passive: false },
    );
    const miniTo = (e) => {
      const r = mini.getBoundingClientRect(),
        f = this.mf;
      this.tx = this.W / 2 - ((e.clientX - r.left - this.mx) / f) * this.s;
      this.ty = this.H / 2 - ((e.clientY - r.top - this.my) / f) * this.s;
      this.paint();
    };
    mini.onpointerdown = (e) => {
      mini.setPointerCapture(e.pointerId);
      miniTo(e);
      mini.onpointermove = miniTo;
    };
    mini.onpointerup = () => {
      mini.onpointermove = null;
    };
    cv.onkeydown = (e) => {
      const k = e.key,
        st = 60;
      if (k === '+' || k === '=') zoomBy(1.25);
      else if (k === '-') zoomBy(0.8);
      else if (k === 'f') this.fit();
      else if (k === 'Enter' && this.node) {
        const p = this.tree.leafOf[this.node.id].parent;
        if (p.parent) this.toggle(p);
      } else if (k.startsWith('Arrow')) {
        const n = this.node;
        if (!n) {
          this.tx += k === 'ArrowLeft' ? st : k === 'ArrowRight' ? -st : 0;
          this.ty += k === 'ArrowUp' ? st : k === 'ArrowDown' ? -st : 0;
          this.paint();
        } else {
          let to = k === 'ArrowDown' ? n.users[0] : k === 'ArrowUp' ? n.in[n.in.length - 1] : null;
          if (!to && (k === 'ArrowLeft' || k === 'ArrowRight')) {
            const q = n.in
              .flatMap((u) => this.g.byId[u].users)
              .concat(n.in.length ? [] : n.users.flatMap((u) => this.g.byId[u].in));
            const i = q.indexOf(n.id);
            to = q[(i + (k === 'ArrowRight' ? 1 : q.length - 1)) % q.length];
          }
          if (to) go('graph=' + this.g.name + '&node=' + to);
        }
      } else return;
      e.preventDefault();
    };
  },
  show(p) {
    const g = G[p.graph] || G[mainGraph()];
    if (!g) return;
    if (this.g !== g) {
      this.g = g;
      this.tree = hierarchy(g);
      this.sel.value = g.name;
      this.fitted = false;
      const wrong = D.accuracy[g.name] && (D.accuracy[g.name].first || D.accuracy[g.name].nan_born);
      this.mode = wrong ? 'heat' : 'op';
      this.relayout();
      this.legend();
    }
    this.node = p.node ? g.byId[p.node] : null;
    if (this.node) {
      let x = this.tree.leafOf[this.node.id].parent,
        ch = false;
      while (x) {
        if (!x.open) {
          x.open = ch = true;
        }
        x = x.parent;
      }
      if (ch) this.relayout();
    }
    if (!this.W) this.size();
    if (!this.fitted) this.fit();
    if (this.node) this.reveal();
    this.inspect();
    this.paint();
  },
  legend() {
    const m = this.mode;
    [...this.seg.children].forEach((b, i) => {
      b.classList.toggle('on', ['op', 'heat'][i] === m);
      b.hidden = i === 1 && !ACC[this.g.name];
    });
    const L =
      m === 'op'
        ? [1, 2, 3, 4, 5].map((i) => [`var(--k${i})`, CLASSNAME[i]])
        : Object.values(CLOSE).map(([word, colour]) => [colour, word]);
    this.legendEl.replaceChildren(...L.map(([c, t]) => h('span', h('i', { style: 'background:' + c }), t)));
  },
  relayout() {
    const inval = (x) => {
      x.lay = null;
      for (const k of x.kids) if (k.group) inval(k);
    };
    inval(this.tree.root);
    const t = performance.now();
    this.scene = flatten(this.tree);
    this.layoutMs = performance.now() - t;
    this.miniDirty = true;
  },
  toggle(k) {
    const b = k.box,
      x = b.x,
      y = b.y;
    k.open = !k.open;
    this.relayout();
    if (k.box) {
      this.tx += (x - k.box.x) * this.s;
      this.ty += (y - k.box.y) * this.s;
    }
    this.paint();
    say((k.open ? 'opened ' : 'closed ') + k.id);
  },
  all(open) {
    const f = (x) => {
      for (const k of x.kids)
        if (k.group) {
          k.open = open;
          f(k);
        }
    };
    f(this.tree.root);
    this.relayout();
    this.fit();
  },
  fit() {
    if (!this.W) return;
    const m = this.scene,
      s = Math.min((this.W - 60) / m.w, (this.H - 110) / m.h, 1.25);
    this.s = s;
    this.tx = (this.W - m.w * s) / 2;
    this.ty = 58 + Math.max(0, (this.H - 110 - m.h * s) / 2);
    this.fitted = true;
    this.paint();
  },
  zoomAt(x, y, f) {
    const s = Math.max(0.01, Math.min(4, this.s * f));
    f = s / this.s;
    this.tx = x - (x - this.tx) * f;
    this.ty = y - (y - this.ty) * f;
    this.s = s;
    this.paint();
  },
  reveal() {
    const b = this.tree.leafOf[this.node.id].box;
    if (!b || !this.W) return;
    if (this.s < 0.55) {
      const s = 0.95;
      this.s = s;
      this.tx = this.W / 2 - (b.x + b.w / 2) * s;
      this.ty = this.H / 2 - (b.y + b.h / 2) * s;
      return;
    }
    const x = b.x * this.s + this.tx,
      y = b.y * this.s + this.ty;
    if (x < 40 || x + b.w * this.s > this.W - 40 || y < 70 || y > this.H - 90) {
      this.tx = this.W / 2 - (b.x + b.w / 2) * this.s;
      this.ty = this.H / 2 - (b.y + b.h / 2) * this.s;
    }
  },
  inHead(b, y) {
    return (y - this.ty) / this.s - b.y < Math.max(PADT, 20 / this.s);
  },
  hit(x, y) {
    const X = (x - this.tx) / this.s,
      Y = (y - this.ty) / this.s;
    const B = this.scene.boxes;
    for (let i = B.length - 1; i >= 0; i--) {
      const b = B[i];
      if (X >= b.x && X <= b.x + b.w && Y >= b.y && Y <= b.y + b.h) return b;
    }
    return null;
  },
  paint() {
    if (this.raf) return;
    this.raf = requestAnimationFrame(() => {
      this.raf = 0;
      this.draw();
    });
  },
};
