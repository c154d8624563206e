/** Markup that a browser would run or load. `¤` becomes the number of the payload. */
const VECTORS = [
  '<script>ran(¤)</script>',
  '<ScRiPt\n>ran(¤)</sCrIpT\t>',
  '<script src=//evil.test/¤.js></script>',
  '<scr<script>ipt>ran(¤)</scr</script>ipt>',
  '<img src=x: onerror=ran(¤)>',
  '<img/src="x:"/onerror="ran(¤)">',
  '<IMG """><IMG SRC=x: OnErRoR=ran(¤)>',
  '<image src=x: onerror=ran(¤)>',
  '<img src=x: onerror\n=\t"&#114;an(¤)">',
  '<svg onload=ran(¤)>',
  '<svg/onload=ran(¤)//',
  '<svg><script>ran(¤)</script></svg>',
  '<svg><script href="data:text/javascript,ran(¤)"/></svg>',
  '<svg><style><img src=x: onerror=ran(¤)></style></svg>',
  '<svg><set attributeName=href to="javascript:ran(¤)" onbegin=ran(¤) begin=0s></svg>',
  '<svg><animate onbegin=ran(¤) attributeName=x dur=1s>',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=x: onerror=ran(¤)&gt;">',
  '<math href="javascript:ran(¤)">press</math>',
  '<iframe src="javascript:parent.ran(¤)"></iframe>',
  '<iframe srcdoc="<script>parent.ran(¤)</script>"></iframe>',
  '<iframe onload=ran(¤)></iframe>',
  '<object data="javascript:ran(¤)"></object>',
  '<object data="data:text/html,<script>ran(¤)</script>" onerror=ran(¤)></object>',
  '<embed src="javascript:ran(¤)" onload=ran(¤)>',
  '<details open ontoggle=ran(¤)>x</details>',
  '<input autofocus onfocus=ran(¤)>',
  '<video><source onerror=ran(¤) src=x:></video>',
  '<audio src=x: onerror=ran(¤)></audio>',
  '<body onload=ran(¤)>',
  '<style>@keyframes k{}</style><b style="animation:k 1s" onanimationstart=ran(¤)>x</b>',
  '<style>*{background:url(//evil.test/¤)}</style>',
  '<link rel=stylesheet href=//evil.test/¤.css onload=ran(¤) onerror=ran(¤)>',
  '<meta http-equiv=refresh content="0;url=//evil.test/¤">',
  '<base href=//evil.test/¤/>',
  '<form action="javascript:ran(¤)"><button formaction="javascript:ran(¤)" autofocus onfocus=ran(¤)>x</button></form>',
  '<a href="javascript:ran(¤)">press</a>',
  '<a href="java\tscript&colon;ran(¤)">press</a>',
  '<a href="&#1;&#106;avascript:ran(¤)" onclick=ran(¤)>press</a>',
  '<a href="data:text/html,<script>ran(¤)</script>">press</a>',
  '<a id=ran name=seen href="//evil.test/¤" onmouseover=ran(¤) style=position:fixed;inset:0>press</a>',
  '<template><script>ran(¤)</script></template><div><template shadowrootmode=open><img src=x: onerror=ran(¤)></template></div>',
  '<select><noscript></select><img src=x: onerror=ran(¤)></noscript>',
  '<noscript><p title="</noscript><img src=x: onerror=ran(¤)>">',
  '<xmp><p title="</xmp><img src=x: onerror=ran(¤)>">',
  '<p title="<!--"><img src=x: onerror=ran(¤)>--></p>',
  '<marquee onstart=ran(¤)>x</marquee>',
  '<lazy-comments src="//evil.test/¤" method=scroll onfocus=ran(¤) tabindex=0 autofocus></lazy-comments>',
  '<p onpointerrawupdate=ran(¤) contenteditable onfocus=ran(¤) autofocus>x</p>',
  '&lt;img src=x: onerror=ran(¤)&gt;',
  '<%= ran(¤) %><img src=x: onerror=`ran(¤)`>\u0024{ran(¤)}{{ran(¤)}}',
]

/** Contexts that a payload may try to break out of. `%` becomes the vector. */
const CONTEXTS = [
  '%',
  '">%',
  "'>%",
  '</strong></div></article></section>%',
  '</textarea></title></style></script></noscript></template>%',
  '--><!-->]]>%',
  '<strong><em>%',
  '<a href="https://example.test/%">x</a>',
  '<blockquote title="%"><code>%',
  '\u0000<p>a &amp; b\r\n%\u2028',
]

/** Creates 500 different hostile strings, always the same. */
export function hostileTexts(): string[] {
  return CONTEXTS.flatMap((context, row) =>
    VECTORS.map((vector, column) => {
      const number = row * VECTORS.length + column
      return context.replaceAll('%', () => vector).replaceAll('¤', String(number))
    }),
  )
}

const ADDRESSES = [
  'javascript:ran(¤)',
  'JaVaScRiPt:ran(¤)',
  ' javascript:ran(¤)',
  '\u0001javascript:ran(¤)',
  'java\nscript:ran(¤)',
  'java\u0000script:ran(¤)',
  'javascript\t:ran(¤)',
  'javascript&colon;ran(¤)',
  '&#106;avascript:ran(¤)',
  'javascript:https://example.test/%0aran(¤)',
  'javascript://example.test/%0aran(¤)',
  'data:text/html,<script>ran(¤)</script>',
  'data:text/html;base64,PHNjcmlwdD5yYW4oKTwvc2NyaXB0Pg==',
  'vbscript:ran(¤)',
  'blob:https://example.test/¤',
  'view-source:javascript:ran(¤)',
  'file:///etc/¤',
  '//evil.test/¤',
  '/logout?¤',
  'https:',
  'https://example.test/" onmouseover="ran(¤)',
  "https://example.test/' autofocus onfocus='ran(¤)",
  'https://example.test/"><script>ran(¤)</script>',
  'https://example.test/</a><img src=x: onerror=ran(¤)>',
  'http://example.test/?q=`-ran(¤)-`',
]

/** Strings around each URL that change its meaning. */
const AROUND = [
  ...['%', '%"', "%'", '%>', '"%', "'%", '%<!--', '% ', '%\r\n', '\t%'],
  ...['%#x', '\u200b%', '%\\', 'url(%)', '%;', '%?', '&Tab;%', '%&amp;', '<%>', '%\u202e'],
]

/** Creates 500 hostile URLs, always the same. */
export function hostileAddresses(): string[] {
  return AROUND.flatMap((around, row) =>
    ADDRESSES.map((address, column) => {
      const number = 1000 + row * ADDRESSES.length + column
      return around.replaceAll('%', () => address.replaceAll('¤', String(number)))
    }),
  )
}
