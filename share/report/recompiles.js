// Guards: under what each graph may be used again, and which of them did not hold.
V.guards = {
  title: 'Guards and recompiles',
  label: 'Recompiles',
  key: '5',
  build(el) {
    const pg = h('div.page');
    el.append(pg);
    this.cards = {};
    const n = D.totals.recompiles;
    pg.append(
      h(
        'p.lead',
        n ? plural(n, 'recompile') + ', ' : 'Nothing was compiled again.',
        n ? h('span.dim', 'each because a guard did not hold.') : '',
      ),
      h('div', { style: 'height:22px' }),
    );
    const count = (f) => this.failed(f).reduce((sum, r) => sum + r.count, 0);
    for (const f of [...D.frames].sort((a, b) => count(b) - count(a))) {
      if (!f.graphs.some((g) => G[g].guards.length)) continue;
      pg.append((this.cards[f.name] = this.card(f)));
    }
  },
  failed: (f) => D.recompiles.filter((r) => r.frame === f.name),
  card(f) {
    const failed = this.failed(f),
      status = failed.length ? 'recompiled' : 'ok';
    const head = ['Guard that failed, with what was found', 'Times', 'Instead', 'Relied on at'];
    return h(
      'div.card.s-' + status,
      h(
        'header',
        icon(status, 17),
        h('h3.m', f.name),
        f.at ? placeLink(f.at) : '',
        h('span', { style: 'flex:1' }),
        h(
          'span.dim',
          [
            plural(f.graphs.length, 'graph'),
            f.calls && plural(f.calls, 'call'),
            f.compile_seconds && sec(f.compile_seconds) + ' compiling',
          ]
            .filter(Boolean)
            .join(', '),
        ),
      ),
      h(
        'div.in',
        failed.length
          ? h(
              'table',
              h(
                'thead',
                h(
                  'tr',
                  head.map((t) => h('th', t)),
                ),
              ),
              h(
                'tbody',
                failed.map((r) =>
                  h(
                    'tr',
                    h('td.m', r.guard),
                    h('td.n', nf(r.count)),
                    h('td', r.advice),
                    h('td', r.at.length ? placeLink(r.at[0]) : ''),
                  ),
                ),
              ),
            )
          : '',
        f.graphs.map((name, i) => this.guards(G[name], i ? G[f.graphs[i - 1]] : null)),
      ),
    );
  },
  /** What is other than for the graph before it stands out. */
  guards(g, before) {
    const changed = (text) => before && !before.guards.includes(text);
    return [
      h('p.note', { style: 'margin:14px 0 6px' }, link('graph=' + g.name, h('span.m', g.name)), ' is used again while'),
      h(
        'ul.gl',
        g.guards.map((x) => h('li' + (changed(x) ? '.ch' : ''), x)),
      ),
      g.symbols.map((s) => h('p.note', s.name + ' = ' + s.place + ' was ' + s.values.join(', '))),
    ];
  },
  show(p) {
    const c = this.cards[p.guards];
    if (c) c.scrollIntoView({ block: 'start' });
  },
};
