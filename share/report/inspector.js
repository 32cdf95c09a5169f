// What the graph view tells of the selected node, or of the graph.
Object.assign(V.graph, {
  /** That the backend fails on the graph, where no value of it is known to be the first wrong one. */
  failure(g) {
    const why = g.failure.not_compared,
      cause = Object.values(CAUSE).find((f) => f.op && f.graphs.some((x) => G[x] && G[x].frame === g.frame));
    return h(
      'div.sec.s-failed',
      h('b', pill('failed', g.failure.wrong ? 'wrong results' : 'fails')),
      h('p', { style: 'color:var(--fg2);margin:6px 0 10px' }, g.failure.message + (g.failure.runs > 1 ? ' (the first of ' + g.failure.runs + ' runs)' : '')),
      why ? h('p.note', 'No first wrong value: ' + why + '.') : '',
      why && cause ? h('p.note', 'Of ' + cause.graphs[0] + ', of the same function, it is known: ', link(cause.go, cause.op), cause.place ? [' at ', placeLink(cause.place, cause.graphs[0])] : '', '.') : '',
    );
  },
  inspect() {
    const g = this.g,
      n = this.node,
      I = this.insp;
    I.replaceChildren();
    I.scrollTop = 0;
    if (!n) {
      I.append(
        h('h2', g.name),
        h(
          'dl',
          h('dt', 'function'),
          h('dd', h('span.m', g.frame)),
          h('dt', 'size'),
          h('dd', plural(g.ops, 'op') + ', ' + plural(g.inputs, 'input') + ', ' + plural(g.outputs, 'output')),
          h('dt', 'parameters'),
          h('dd', g.parameters ? g.parameters + ', ' + bytes(g.parameter_bytes) : 'none'),
          h('dt', 'ended by'),
          h(
            'dd',
            g.ended_by === 'return'
              ? g.ended_by
              : link('breaks=' + encodeURIComponent(g.frame), pill('break', g.ended_by)),
          ),
          g.compile_seconds
            ? [
                h('dt', 'compiled'),
                h('dd', sec(g.compile_seconds) + (g.compilations > 1 ? ' in ' + g.compilations + ' compilations' : '')),
              ]
            : '',
        ),
      );
      const a = D.accuracy[g.name];
      if (g.failure && !(a && a.first)) I.append(this.failure(g));
      if (a && (a.first || a.nan_born))
        I.append(
          h(
            'div.sec.s-' + (a.first ? 'failed' : 'nan'),
            h('b', pill(a.first ? 'failed' : 'nan', a.first ? 'wrong results' : 'NaN')),
            a.first && CAUSE[g.name] && CAUSE[g.name].place ? h('p', short(ACC[g.name][a.first].op), ' at ', placeLink(CAUSE[g.name].place, g.name)) : '',
            h('p', { style: 'color:var(--fg2);margin:6px 0 10px' }, a.message || 'NaN in the reference, too.'),
            h(
              'div.lkr',
              link('graph=' + g.name + '&node=' + (a.first || a.nan_born), 'go to %' + (a.first || a.nan_born)),
              h('span', '↵'),
            ),
          ),
        );
      if (g.variant_of)
        I.append(
          h(
            'div.sec',
            h('b', 'Variant'),
            h('p', 'of ', link('graph=' + g.variant_of, g.variant_of), ': ', g.difference),
          ),
        );
      if (g.capture_fault)
        I.append(h('div.sec.s-failed', h('b', pill('failed', 'capture went wrong')), h('p', g.capture_fault)));
      if (g.symbols.length)
        I.append(
          h(
            'div.sec',
            h('b', 'Symbols'),
            g.symbols.map((s) => h('div.lkr', h('span', s.name + ' = ' + s.values.join(', ')), h('span', s.place))),
          ),
        );
      if (g.guards.length)
        I.append(
          h(
            'div.sec',
            h('b', 'Guards'),
            g.guards.map((x) => h('div.lkr', { style: 'overflow-wrap:anywhere' }, h('span', x))),
          ),
        );
      if (g.replay) I.append(h('div.sec', h('b', 'Replay it'), cmd(g.replay)));
      return;
    }
    say(n.text || n.id);
    I.append(
      h('h2', h('span', short(n.op)), ' ', h('span.m', { style: 'color:var(--fg3);font-weight:400' }, '%' + n.id)),
    );
    const v = ACC[g.name] && ACC[g.name][n.id];
    I.append(
      h(
        'dl',
        n.out.length
          ? [
              h('dt', 'result'),
              h(
                'dd',
                n.out.map((o) => h('div.m', shape(o))),
              ),
            ]
          : '',
        n.out.length ? [h('dt', 'size'), h('dd', bytes(n.out.reduce((sum, o) => sum + byteSize(o), 0)))] : '',
        n.kind === 'op' ? [h('dt', 'operation'), h('dd.m', n.op)] : '',
        n.mod ? [h('dt', 'module'), h('dd.m', n.mod)] : '',
        n.params
          ? [
              h('dt', 'weights'),
              h(
                'dd.m',
                n.params.map((p) => h('div', p)),
              ),
            ]
          : '',
      ),
    );
    if (v)
      I.append(
        h(
          'div.sec.s-' + (v.nan ? 'nan' : v.closeness === 'differs' ? 'failed' : 'ok'),
          h(
            'b',
            'Against the reference ',
            pill(
              v.nan ? 'nan' : v.closeness === 'differs' ? 'failed' : 'ok',
              v.nan ? v.nan + ' NaN' : v.closeness === 'differs' ? 'differs' : 'close',
            ),
          ),
          h(
            'dl',
            { style: 'margin-top:8px' },
            h('dt', 'largest'),
            h('dd.m', finite(v, v.max_abs) + ' abs, ' + finite(v, v.max_rel) + ' rel' + (v.nan ? ', of the finite elements' : '')),
            h('dt', 'ULP'),
            h('dd.m', finite(v, v.max_ulp)),
            h('dt', 'RMSE, f64'),
            h('dd.m', sci(v.rmse) + ' (reference ' + sci(v.reference_rmse) + ')'),
          ),
        ),
      );
    const parts = partsByNode(kernelsOf(g)).get(n.id) || [];
    if (parts.length)
      I.append(
        h(
          'div.sec',
          h('b', 'Kernel'),
          [...new Set(parts.map(([k]) => k))].map((k) => [
            h('div.lkr', h('span', k.name), h('span', [k.runs && sec(k.seconds), k.roofline != null && percent(k.roofline) + ' of the roofline'].filter(Boolean).join(', '))),
            h('div.m', parts.filter(([x]) => x === k).map(([, stage], i) => [i ? ', ' : '', link('source=' + g.name + '&kernel=' + k.name + '&stage=' + stage, k.stages[stage].name)])),
          ]),
        ),
      );
    if (n.at)
      I.append(
        h(
          'div.sec',
          h('b', 'Source'),
          snippet(n.at[0], 1),
          h(
            'div',
            { style: 'margin-top:8px' },
            n.at.map((a) => h('div.lkr', placeLink(a, g.name), h('span', a[2]))),
          ),
          h(
            'a.btn',
            { href: '#source=' + g.name + '&node=' + n.id, style: 'margin-top:10px' },
            icon('source', 14),
            'Source beside the graph',
          ),
        ),
      );
    const lst = (t, ids) =>
      ids.length
        ? h(
            'div.sec',
            h('b', t),
            ids.map((u) => {
              const q = g.byId[u];
              return h(
                'div.lkr',
                link('graph=' + g.name + '&node=' + u, '%' + u),
                h('span', q.out[0] ? shape(q.out[0]) : ''),
              );
            }),
          )
        : '';
    I.append(lst('Inputs', n.in), lst('Used by', n.users));
  },
});
