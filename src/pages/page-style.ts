import { createHash } from 'node:crypto'

const COLORS = `:root{color-scheme:light dark;
--page:light-dark(#f5f6f8,#12151b);--card:light-dark(#fff,#1a1e26);--line:light-dark(#e0e4ea,#2c333f);--edge:light-dark(#868f9d,#6f7a8b);
--text:light-dark(#1b2230,#e8ebf0);--muted:light-dark(#566072,#a3adbd);--accent:light-dark(#3a4fc4,#a5b4ff);--on-accent:light-dark(#fff,#12162b);--soft:light-dark(#eef0ff,#262c4a);
--danger:light-dark(#b3261e,#ffa59c);--good:light-dark(#146c43,#7fd6a8);--good-soft:light-dark(#e4f5ec,#16322a);--warn:light-dark(#7a4b00,#f2c66d);--warn-soft:light-dark(#fff4dd,#352a16)}
`

const RULES = `*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:anywhere}
main{max-inline-size:40rem;margin-inline:auto;padding:1.5rem 1rem 4rem;display:grid;gap:1.5rem}
h1,h2,h3,p,ul,fieldset{margin:0;padding:0;border:0}
h1{font-size:1.5rem;line-height:1.25;letter-spacing:-.012em}
h2{font-size:.8125rem;font-weight:600;color:var(--muted);margin-block-end:.5rem}
h3{font-size:1rem;font-weight:600}
ul{list-style:none}
a{color:var(--accent);text-underline-offset:.2em}
nav a{display:inline-flex;align-items:center;gap:.375rem;min-block-size:2.75rem}
[dir=rtl] nav svg{transform:scaleX(-1)}
.lead,.meta,.foot{color:var(--muted);font-size:.9375rem}
.lead{margin-block-start:.25rem}
.list{background:var(--card);border:1px solid var(--line);border-radius:.875rem}
.row{display:grid;grid-template-columns:2.5rem minmax(0,1fr) auto;gap:.25rem .875rem;align-items:center;padding:1rem 1.125rem}
.row+.row{border-block-start:1px solid var(--line)}
.icon{inline-size:2.5rem;block-size:2.5rem;border-radius:.75rem;background:var(--soft);color:var(--accent);display:grid;place-items:center}
svg{inline-size:1.25rem;block-size:1.25rem;fill:none;stroke:currentcolor;stroke-width:1.75;stroke-linecap:round;stroke-linejoin:round;flex:none}
.tag{display:inline-block;padding:.0625rem .5rem;border-radius:1rem;background:var(--good-soft);color:var(--good);font-size:.75rem;font-weight:600;vertical-align:.0625rem}
.tag.next{background:var(--warn-soft);color:var(--warn)}
button,.button{display:inline-flex;align-items:center;justify-content:center;min-block-size:2.75rem;padding:.5rem 1rem;border:1px solid var(--edge);border-radius:.5rem;background:var(--card);color:var(--text);font:inherit;font-size:.9375rem;font-weight:550;text-decoration:none;cursor:pointer}
.primary{background:var(--accent);border-color:var(--accent);color:var(--on-accent)}
.danger{border-color:var(--danger);color:var(--danger)}
:is(button,.button):hover{filter:brightness(.97)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
h1:focus,.note:focus{outline:none}
.note{display:grid;grid-template-columns:auto minmax(0,1fr);gap:.25rem .75rem;padding:1rem 1.125rem;border-radius:.75rem;background:var(--warn-soft);border-inline-start:4px solid var(--warn)}
.note svg{margin-block-start:.125rem;color:var(--warn)}
.note.done{background:var(--good-soft);border-color:var(--good)}.note.done svg{color:var(--good)}
.note strong{display:block}
.actions{display:flex;flex-wrap:wrap;gap:.5rem .75rem}
.field{display:grid;gap:.375rem}.field input{min-block-size:2.75rem;padding:.5rem .75rem;border:1px solid var(--edge);border-radius:.5rem;background:var(--card);color:inherit;font:inherit;inline-size:100%}
.field [aria-invalid]{border-color:var(--danger)}.error{color:var(--danger)}
.stack{display:grid;gap:1rem}.panel{padding:1.125rem}
.print{display:none}
.pick{display:grid;grid-template-columns:1.5rem 2.5rem minmax(0,1fr);gap:.25rem .875rem;align-items:center;padding:1rem 1.125rem;cursor:pointer}
.pick+.pick,details>.pick{border-block-start:1px solid var(--line)}
.pick:has(:checked){background:var(--soft)}.pick:has(:checked) .icon{background:var(--card)}
.pick:first-child{border-start-start-radius:.875rem;border-start-end-radius:.875rem}.list>.pick:last-child{border-end-start-radius:.875rem;border-end-end-radius:.875rem}
.pick:has(:focus-visible){outline:3px solid var(--accent);outline-offset:-3px;border-radius:.875rem}
.pick input{inline-size:1.375rem;block-size:1.375rem;margin:0;accent-color:var(--accent)}
.pick input:focus-visible{outline:0}
.pick strong{font-weight:600}.pick .meta{display:block}
summary{cursor:pointer;padding:.75rem 1.125rem;border-block-start:1px solid var(--line);color:var(--accent);font-size:.9375rem}
.choices{display:grid;gap:.75rem}
.unseen{position:absolute;inline-size:1px;block-size:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
@media (width<30rem){.row>form,.row>.button{grid-column:1/-1;margin-block-start:.5rem}.row>form>button,.row>.button{inline-size:100%}.actions>*,.actions button{flex:1 1 100%}}
@media (forced-colors:active){.icon,.tag,.note{border:1px solid}.pick:has(:checked){outline:2px solid Highlight;outline-offset:-2px}}
@media print{nav,button,.button,form{display:none}.print{display:block}}`

/** A style sheet, and the hash by which a content security policy allows it. */
export interface PageStyle {
  readonly css: string
  readonly hash: string
}

/** Returns the style of the pages. `colors` override its custom properties. */
export function pageStyle(colors: Readonly<Record<string, string>>): PageStyle {
  const own = Object.entries(colors).map(([name, color]) => `--${name}:${color}`)
  const css = COLORS + RULES + (own.length > 0 ? `\n:root{${own.join(';')}}` : '')
  return { css, hash: `'sha256-${createHash('sha256').update(css).digest('base64')}'` }
}
