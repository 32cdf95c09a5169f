// What the graph view puts on its canvas.
Object.assign(V.graph, {
  /** A picture of the whole graph, for printing. */
  snapshot(w, ht) {
    const k = [this.W, this.H, this.dpr, this.s, this.tx, this.ty, this.cv, this.ctx, this.node];
    const cv = h('canvas', { width: w * 2, height: ht * 2 });
    Object.assign(this, { W: w, H: ht, dpr: 2, ctx: cv.getContext('2d'), pal: null, node: null });
    this.ty = 0;
    const m = this.scene,
      sc = Math.min((w - 40) / m.w, (ht - 40) / m.h, 1.4);
    this.s = sc;
    this.tx = (w - m.w * sc) / 2;
    this.ty = (ht - m.h * sc) / 2;
    this.draw();
    [this.W, this.H, this.dpr, this.s, this.tx, this.ty, this.cv, this.ctx, this.node] = k;
    this.pal = null;
    this.miniDirty = true;
    return h('img.pr', { alt: 'graph ' + this.g.name, src: cv.toDataURL() });
  },
  theme() {
    this.pal = null;
    this.miniDirty = true;
    this.paint();
  },
  draw() {
    if (!this.W || !this.scene) return;
    const P =
      this.pal ||
      (this.pal = {
        bg: css('--bg1'),
        node: css('--bg'),
        line: css('--line2'),
        grp: css('--bg2'),
        edge: css('--fg3'),
        fg: css('--fg'),
        fg2: css('--fg2'),
        fg3: css('--fg3'),
        acc: css('--acc'),
        failed: css('--failed'),
        nan: css('--nan'),
        k: [1, 2, 3, 4, 5, 6].map((i) => css('--k' + i)),
        sans: css('--sans'),
        mono: css('--mono'),
      });
    const tone = { nan: P.nan, differs: P.failed, rounding: P.k[1], same: P.k[4] };
    const c = this.ctx,
      { s: S, tx, ty, dpr } = this,
      g = this.g;
    c.setTransform(dpr, 0, 0, dpr, 0, 0);
    c.fillStyle = P.bg;
    c.fillRect(0, 0, this.W, this.H);
    c.setTransform(S * dpr, 0, 0, S * dpr, tx * dpr, ty * dpr);
    const X0 = -tx / S,
      Y0 = -ty / S,
      X1 = X0 + this.W / S,
      Y1 = Y0 + this.H / S;
    const inView = (b) => b.x < X1 && b.x + b.w > X0 && b.y < Y1 && b.y + b.h > Y0;
    const vis = this.scene.boxes.filter(inView),
      px = 1 / S;
    // groups
    c.lineWidth = px;
    for (const b of vis)
      if (b.k.group) {
        const open = b.k.open;
        rr(c, b.x, b.y, b.w, b.h, open ? 9 : 7);
        c.fillStyle = open ? (b.k.depth % 2 ? P.grp : P.node) : P.node;
        c.fill();
        const heat = !open && this.mode === 'heat' && tone[closenessIn(g, b.k)];
        if (heat) {
          c.fillStyle = heat;
          c.globalAlpha = 0.22;
          c.fill();
          c.globalAlpha = 1;
        }
        c.strokeStyle = b === this.hov ? P.fg3 : P.line;
        c.stroke();
        if (!open && S > 0.12) {
          rr(c, b.x + 3, b.y + 3, b.w - 6, b.h - 6, 5);
          c.stroke();
        }
      }
    // edges: one path for all, those of the selected node on top
    const sel = this.node || (this.hov && this.hov.k.node),
      hot = [];
    const curved = S > 0.22;
    c.strokeStyle = P.edge;
    c.globalAlpha = S < 0.22 ? 0.45 : 0.6;
    c.lineWidth = Math.max(1.1, px * 0.9);
    c.beginPath();
    for (const e of this.scene.edges) {
      if (e.x1 < X0 || e.x0 > X1 || e.y1 < Y0 || e.y0 > Y1) continue;
      if (S < 0.05 && e.y1 - e.y0 < 3 * px) continue;
      if (sel && ((e.us.includes(sel.id) && (!e.b || true)) || (e.b && e.b.node === sel))) {
        hot.push(e);
        continue;
      }
      if (!e.back) trace(c, e.p, curved);
    }
    c.stroke();
    c.setLineDash([5, 4]);
    c.beginPath();
    for (const e of this.scene.edges) if (e.back) trace(c, e.p, false);
    c.stroke();
    c.setLineDash([]);
    c.globalAlpha = 1;
    if (hot.length) {
      c.strokeStyle = P.acc;
      c.lineWidth = Math.max(2, 1.6 * px);
      c.beginPath();
      for (const e of hot) trace(c, e.p, curved);
      c.stroke();
    }
    if (S > 0.3) {
      c.fillStyle = P.edge;
      c.beginPath();
      for (const e of this.scene.edges)
        if (e.stub && e.y1 > Y0 && e.y0 < Y1 && e.x0 > X0 && e.x0 < X1) {
          c.moveTo(e.x0 + 2.5, e.y0);
          c.arc(e.x0, e.y0, 2.5, 0, 7);
        }
      for (const e of this.scene.edges) {
        if (!e.b || e.back) continue;
        const n = e.p.length,
          x = e.p[n - 3],
          y = e.p[n - 2];
        if (x < X0 || x > X1 || y < Y0 || y > Y1) continue;
        c.moveTo(x, y);
        c.lineTo(x - 3.4, y - 6);
        c.lineTo(x + 3.4, y - 6);
      }
      c.globalAlpha = 0.8;
      c.fill();
      c.globalAlpha = 1;
    }
    // nodes, by colour
    const col = (k) => (this.mode === 'heat' ? tone[closenessIn(g, k)] || P.line : P.k[OPCLASS(k.node.op) - 1]);
    const acc = D.accuracy && D.accuracy[g.name];
    if (S < 0.28) {
      const by = new Map();
      for (const b of vis)
        if (!b.k.group) {
          const q = col(b.k);
          (by.get(q) || by.set(q, []).get(q)).push(b);
        }
      for (const [q, bs] of by) {
        c.fillStyle = q;
        c.globalAlpha = 0.85;
        c.beginPath();
        for (const b of bs) c.rect(b.x, b.y, b.w, b.h);
        c.fill();
      }
      c.globalAlpha = 1;
    } else {
      c.textBaseline = 'middle';
      for (const b of vis)
        if (!b.k.group) {
          const n = b.k.node,
            q = col(b.k),
            io = n.kind !== 'op';
          rr(c, b.x, b.y, b.w, b.h, io ? b.h / 2 : 6);
          c.fillStyle = P.node;
          c.fill();
          c.save();
          c.clip();
          c.fillStyle = q;
          c.globalAlpha = this.mode === 'op' ? 0.13 : 0.22;
          c.fillRect(b.x, b.y, b.w, b.h);
          c.globalAlpha = 1;
          if (!io) c.fillRect(b.x, b.y, 4, b.h);
          c.restore();
          c.lineWidth = Math.max(1, px);
          c.strokeStyle = b === this.hov ? P.fg3 : P.line;
          rr(c, b.x, b.y, b.w, b.h, io ? b.h / 2 : 6);
          c.stroke();
          if (S > 0.34) {
            c.font = (io ? '500 11px ' : '600 12px ') + P.sans;
            c.fillStyle = P.fg;
            if (io) {
              c.textAlign = 'center';
              c.fillText(n.label || n.id, b.x + b.w / 2, b.y + b.h / 2 + 0.5);
              c.textAlign = 'left';
            } else {
              const t = short(n.op),
                m = n.mod ? n.mod.slice(b.k.parent.id ? b.k.parent.id.length + 1 : 0) : '';
              c.fillText(t, b.x + 13, b.y + b.h / 2 + 0.5, b.w - 18);
              if (m && S > 0.5) {
                const wd = c.measureText(t).width;
                c.font = '11px ' + P.sans;
                c.fillStyle = P.fg3;
                // A part of a name would be another name.
                if (13 + wd + 7 + c.measureText(m).width < b.w - 6) c.fillText(m, b.x + 13 + wd + 7, b.y + b.h / 2 + 0.5);
              }
            }
          }
        }
    }
    // module names: on the screen's scale, where there is room
    c.textBaseline = 'middle';
    for (const b of vis)
      if (b.k.group) {
        const k = b.k,
          fs = Math.min(12 * Math.max(1, 0.8 / S), b.w / (k.name.length * 0.6 + 3), k.open ? 1e3 : b.h * 0.6);
        if (b.w * S < 34) continue;
        if (k.open && fs * S < 8.5 && b.w * S < 110) continue;
        c.font = '600 ' + Math.min(fs, k.open ? 12 / Math.min(1, Math.max(S, 0.45)) : fs) + 'px ' + P.sans;
        c.fillStyle = k.open ? P.fg2 : P.fg;
        if (k.open && S < 0.3) continue;
        const y = k.open ? b.y + 15 : b.y + b.h / 2;
        c.fillText((k.open ? '−  ' : '+  ') + k.name, b.x + 12, y);
        const wd = c.measureText((k.open ? '−  ' : '+  ') + k.name).width;
        c.font = c.font.replace('600', '400');
        c.fillStyle = P.fg3;
        if (b.w > wd + 70) c.fillText(String(k.n), b.x + 12 + wd + 8, y);
      }
    // shapes on edges
    if (S > 0.72) {
      c.font = '10px ' + P.mono;
      c.textBaseline = 'middle';
      const done = new Set();
      for (const e of this.scene.edges) {
        if (!e.b || e.p.length < 6) continue;
        if (e.stub) {
          if (e.x0 > X0 && e.x0 < X1 && e.y0 > Y0 && e.y0 < Y1) {
            c.fillStyle = P.fg3;
            const t = '%' + e.us[0],
              w = c.measureText(t).width;
            c.fillText(t, e.x0 - w - 5, e.y0);
          }
          continue;
        }
        if (!e.a) continue;
        const n = g.byId[e.us[0]];
        const x = e.p[0],
          y = e.p[1];
        if (x < X0 - 120 || x > X1 || y < Y0 || y > Y1) continue;
        const key = Math.round(x) + ',' + Math.round(y);
        if (done.has(key)) continue;
        done.add(key);
        const t =
          e.us.length > 1
            ? e.us.length + ' tensors'
            : n.out[0]
              ? (n.out.length > 1 ? n.out.length + '× ' : '') + n.out[0].sizes.join('×') || n.out[0].dtype
              : '';
        c.lineWidth = 4;
        c.lineJoin = 'round';
        c.strokeStyle = e.a.parent.parent ? (e.a.parent.depth % 2 ? P.grp : P.node) : P.bg;
        c.strokeText(t, x + 7, y + 12);
        c.fillStyle = P.fg3;
        c.fillText(t, x + 7, y + 12);
      }
    }
    // flags
    const flag = (id, text, color) => {
      const k = this.tree.leafOf[id];
      if (!k) return;
      let b = k.box,
        x = k;
      while (x.parent) {
        if (!x.parent.open) b = x.parent.box;
        x = x.parent;
      }
      if (!b) return;
      c.lineWidth = Math.max(2, 2 * px);
      c.strokeStyle = color;
      rr(c, b.x - 2, b.y - 2, b.w + 4, b.h + 4, 8);
      c.stroke();
      const fs = Math.max(11, 11 * px);
      c.font = '600 ' + fs + 'px ' + P.sans;
      const w = c.measureText(text).width + fs;
      const fx = b.x - 2,
        fy = b.y - fs * 1.6 - 5;
      c.fillStyle = color;
      rr(c, fx, fy, w, fs * 1.6, fs * 0.4);
      c.fill();
      c.fillStyle = P.bg;
      c.textBaseline = 'middle';
      c.fillText(text, fx + fs / 2, fy + fs * 0.85);
    };
    if (acc && acc.first) flag(acc.first, 'first wrong value', P.failed);
    if (acc && acc.nan_born) flag(acc.nan_born, 'NaN born here', P.nan);
    if (this.node) {
      const b = this.tree.leafOf[this.node.id].box;
      if (b) {
        c.lineWidth = Math.max(2, 2 * px);
        c.strokeStyle = P.acc;
        rr(c, b.x - 5, b.y - 5, b.w + 10, b.h + 10, 10);
        c.stroke();
      }
    }
    this.drawMini(P);
  },
  drawMini(P) {
    const m = this.scene,
      mw = Math.max(60, Math.min(190, (m.w / m.h) * 130)),
      mh = Math.min(130, (mw * m.h) / m.w + 16),
      d = this.dpr,
      f = Math.min((mw - 12) / m.w, (mh - 12) / m.h);
    const mc = this.mini;
    if (this.miniDirty) {
      this.miniDirty = false;
      mc.width = mw * d;
      mc.height = mh * d;
      mc.style.width = mw + 'px';
      mc.style.height = mh + 'px';
      this.mf = f;
      this.mx = (mw - m.w * f) / 2;
      this.my = (mh - m.h * f) / 2;
      const o = (this.moff = document.createElement('canvas'));
      o.width = mc.width;
      o.height = mc.height;
      const c = o.getContext('2d');
      c.setTransform(f * d, 0, 0, f * d, this.mx * d, this.my * d);
      for (const b of m.boxes) {
        c.fillStyle = b.k.group ? (b.k.open ? P.grp : P.line) : P.k[OPCLASS(b.k.node.op) - 1];
        c.fillRect(b.x, b.y, Math.max(b.w, 1 / f), Math.max(b.h, 1 / f));
      }
    }
    const whole = this.tx >= 0 && this.ty >= 0 && this.tx + m.w * this.s <= this.W && this.ty + m.h * this.s <= this.H;
    mc.hidden = whole;
    if (whole) return;
    const c = mc.getContext('2d');
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, mc.width, mc.height);
    c.drawImage(this.moff, 0, 0);
    c.setTransform(d, 0, 0, d, 0, 0);
    const x = this.mx - (this.tx / this.s) * this.mf,
      y = this.my - (this.ty / this.s) * this.mf;
    c.strokeStyle = P.acc;
    c.lineWidth = 1.5;
    const X = Math.max(0.75, x),
      Y = Math.max(0.75, y);
    c.strokeRect(
      X,
      Y,
      Math.min(x + (this.W / this.s) * this.mf, mw - 0.75) - X,
      Math.min(y + (this.H / this.s) * this.mf, mh - 0.75) - Y,
    );
  },
});
function rr(c, x, y, w, h, r) {
  c.beginPath();
  c.roundRect(x, y, w, h, r);
}
function trace(c, p, curved) {
  c.moveTo(p[0], p[1]);
  for (let i = 3; i < p.length; i += 3) {
    const x = p[i],
      y = p[i + 1],
      x0 = p[i - 3],
      y0 = p[i - 2];
    if (!curved || p[i + 2] || x === x0) c.lineTo(x, y);
    else {
      const m = Math.min(24, Math.abs(y - y0) / 2 + 4);
      c.bezierCurveTo(x0, y0 + m, x, y - m, x, y);
    }
  }
}
