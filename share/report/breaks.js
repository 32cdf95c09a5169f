// Why capture stopped, where, and what to write instead.
import { D, G } from './data.js';
import { cmd, h, icon, link, placeLink, snippet } from './elements.js';
import { plural } from './words.js';

export const breaks = {
  title: 'Graph breaks',
  key: '4',
  build(el) {
    const pg = h('div.page');
    el.append(pg);
    this.cards = {};
    pg.append(
      h(
        'p.lead',
        D.breaks.length
          ? plural(D.breaks.length, 'place') + (D.breaks.length > 1 ? ' break the graph, ' : ' breaks the graph, ')
          : 'No graph breaks.',
        D.breaks.length
          ? h(
              'span.dim',
              plural(D.totals.breaks, 'time') +
                ' in total. Between two graphs the program runs uncompiled, on the outputs of the first graph. A graph break costs time, but does not change results.',
            )
          : '',
      ),
      h('div', { style: 'height:22px' }),
    );
    for (const b of [...D.breaks].sort((a, c) => c.count - a.count)) {
      const c = this.card(b);
      this.cards[b.id] = this.cards[b.id] || c;
      this.cards[b.frame] = this.cards[b.frame] || c;
      pg.append(c);
    }
  },
  /** How often the program ran the graph, where each of its calls is known. */
  times(name) {
    const calls = D.calls.filter((c) => c.frame === G[name].frame),
      frame = D.frames.find((f) => f.name === G[name].frame);
    if (!calls.length || !frame || calls.length < frame.calls) return '';
    return plural(calls.filter((c) => (c.graphs || []).includes(name)).length, 'time') + ', ';
  },
  card(b) {
    const graph = (name) => (G[name] ? link('graph=' + name, name + ' · ' + plural(G[name].ops, 'op')) : name);
    return h(
      'div.card.s-break',
      h(
        'header',
        icon('break', 17),
        h('h3', b.reason),
        h('span.tag', b.id),
        h('span', { style: 'flex:1' }),
        h('span.dim', (b.count > 1 ? b.count + ' times' : 'once') + (b.frame ? ' in ' : '')),
        h('span.m', b.frame),
      ),
      b.at.length ? snippet(b.at[0], 3, 'break') : b.node ? h('p.in.m', '%' + b.node) : '',
      h(
        'div.in',
        b.at.slice(1).map((a) => h('div', h('span.dim', 'called from '), placeLink(a), h('span.dim', ' ' + a[2]))),
        h(
          'div.hint',
          b.hint ? [h('b', 'Hint'), h('span', b.hint + '.')] : '',
          h('span', { style: 'flex:1' }),
          h('div', { style: 'width:230px' }, cmd('explain break ' + b.id)),
        ),
        b.before.map((n, i) =>
          h(
            'div.flow',
            graph(n),
            h('s', { title: 'the program runs uncompiled here' }),
            b.after[i] ? graph(b.after[i]) : 'return',
            G[n] ? h('span.dim', { style: 'margin-left:12px' }, this.times(n) + plural(G[n].outputs, 'tensor') + ' passed to the program') : '',
          ),
        ),
      ),
    );
  },
  show(p) {
    const c = this.cards[p.breaks];
    if (c) c.scrollIntoView({ block: 'start' });
  },
};
