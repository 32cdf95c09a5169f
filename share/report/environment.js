// Where the report was made, and what capture could not observe.
import { D } from './data.js';
import { cmd, copyBtn, h } from './elements.js';

export const env = {
  title: 'Environment',
  key: '9',
  build(el) {
    const pg = h('div.page'),
      readable = (v) => String(v).replace(/^(\d+) kB$/, (_, kb) => (kb / 2 ** 20).toFixed(1) + ' GiB'),
      facts = Object.entries(D.environment).map(([k, v]) => [k, readable(v)]);
    el.append(pg);
    const text = facts.map((r) => r.join(': ')).join('\n');
    pg.append(
      h('h2', { style: 'margin-top:0' }, 'Environment of this report', copyBtn(text)),
      h(
        'table',
        h(
          'tbody',
          facts.map(([k, v]) => h('tr', h('td.dim', { style: 'width:150px' }, k), h('td', v))),
        ),
      ),
    );
    if (D.notes.length)
      pg.append(
        h('h2', 'What capture could not observe'),
        h(
          'ul',
          D.notes.map((n) => h('li', n)),
        ),
      );
    if (D.torch_compilations.length)
      pg.append(
        h('h2', 'What torch.compile compiled in the program'),
        h(
          'ul',
          D.torch_compilations.map((c) =>
            h(
              'li',
              `${c.id} ${c.function} (${c.file}:${c.line}): ${c.ops} ops, ${c.guards} guards` +
                (c.error ? `; not compiled: ${c.error}` : ''),
              h(
                'ul',
                (c.failed_guards || []).map((g) => h('li', `recompiled, failed guard: ${g}`)),
                (c.breaks || []).map((b) => h('li', `graph break at ${b.file}:${b.line}: ${b.reason}`)),
              ),
            ),
          ),
        ),
      );
    pg.append(h('h2', 'Command'), h('div', { style: 'max-width:720px' }, cmd(D.command)));
  },
};
