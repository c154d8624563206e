/** A word or phrase that our prose avoids, and what to write instead. */
export interface WordRule {
  readonly pattern: RegExp
  readonly better: string
}

const rule = (pattern: RegExp, better: string): WordRule => ({ pattern, better })

/** Words that slow down a reader, in all our English: pages, doc comments, messages. */
export const PLAIN_WORDS: readonly WordRule[] = [
  rule(/\bbut for\b/i, 'except'),
  rule(/\bnothing but\b/i, 'only'),
  rule(/(?<!stand-|let |leave \w+ |leave )\balone\b/i, 'only'),
  rule(/\b(whoever|whosoever)\b/i, 'anyone who, or the caller'),
  rule(/\bsomebody('s)?\b/i, 'someone, a user or a caller'),
  rule(/^who\b(?!.*\?$)/i, 'users who, or callers who'),
  rule(/\b(he|she|his|him|hers?|himself|herself)\b/i, 'they, their or them'),
  rule(/\bstrangers?\b/i, 'an anonymous caller'),
  rule(/\banew\b/i, 'again'),
  rule(/\bmasters?\b/i, 'primary'),
  rule(/\btells\b|\btold\b|\btelling\b/i, 'reports, returns or shows'),
  rule(/\bgives\b(?! up)/i, 'returns, sets or has'),
  rule(/\bstands\b|\bstood\b/i, 'is'),
  rule(/\bas (?:a )?text\b/i, 'as a string'),
  rule(/\bover (all|two|three|four|several|many) (processes|machines)\b/i, 'across processes'),
  rule(/\bblanks\b/i, 'spaces'),
  rule(/\bcomes? by\b/i, 'passes through'),
  rule(/\b(goes|go|comes|come) along\b/i, 'is sent'),
  rule(/\bhand(s|ed|ing)? over\b|\bhand(s|ed|ing)? on\b/i, 'pass'),
  rule(/\bfor good\b/i, 'permanently'),
  rule(/\bmend(s|ed|ing)?\b/i, 'fix'),
  rule(/\bof itself\b/i, 'by itself'),
  rule(/\b(thereby|thereof|therein|therefor|wherein|whereby|whereof|hereby|herein)\b/i, 'a new sentence'),
  rule(/\b(hence|thus|therefore)\b/i, 'so'),
  rule(/\b(lest|whence|thence|whilst|amongst|albeit)\b/i, 'a word of today'),
  rule(/\btill\b/i, 'until'),
  rule(/\bupon\b/i, 'on, or when'),
  rule(/\bshall\b/i, 'must'),
  rule(/\bin vain\b/i, 'without effect'),
  rule(/\bfor granted\b/i, 'ignored, or expected'),
  rule(/\bas good as (none|no|new)\b/i, 'ignored'),
  rule(/\b(that|which) (is|are) none\b/i, 'that is invalid'),
  rule(/\bthat there (is|are)\b(?! no)/i, 'available, or leave it out'),
  rule(/, too(?=[.,;:)]|$)/i, 'also'),
  rule(/\b(knows?|known|learns?|speaks?|hears?) of\b/i, 'know about'),
  rule(/\bmakes what\b|\bsays (of|whether|who)\b|\bgive what\b/i, 'returns'),
  rule(/\b(holds?|held|takes?|taken|frees?|freed) (a|an|the|its|their|all|no) places?\b/i, 'slot'),
  rule(/\bforgoes?\b|\bforego\b/i, 'skips'),
  rule(/\bwished? for\b/i, 'asked for'),
  rule(/\bat the latest\b/i, 'within'),
  rule(/\bwhole programs?\b/i, 'complete'),
  rule(/\bsays (why|how|what|which|when|where)\b/i, 'explains, shows or has'),
  rule(/\bma(ke|kes|de|king) (a|an|the|its|their|no) ((new|fresh) )?(session|id|token|nonce|cookie)s?\b/i, 'create'),
  rule(/\bgo(es)? out\b/i, 'is sent'),
  rule(/\bthe log warns\b/i, 'sessmgr logs a warning'),
  rule(/\bin turns\b/i, 'alternately'),
  rule(/\btakes? \w+ for (a|an|one|live|ended|granted)\b/i, 'treats it as'),
  rule(/\band (its|their) kin\b/i, 'and similar ones'),
  rule(/\blicences?\b/i, 'license'),
  rule(/\b(colour|favour|behaviour)s?\b/i, 'color, favor or behavior'),
]

/** Words that only pages for users avoid. Most are terms of the source code. */
export const HOUSE_WORDS: readonly WordRule[] = [
  rule(/\bdoors?\b/i, 'entry point'),
  rule(/\bhosts?\b(?!\.\w)(?<!^host(?=$))/i, 'framework, or application'),
  rule(/\bground\b/i, 'leave it out'),
  rule(/\bspine\b/i, 'leave it out'),
  rule(/\bfloors?\b/i, 'layer'),
  rule(/\banswer(s|ed|ing)?\b/i, 'response, or respond'),
  rule(/\b(sessions?|it|one|they) (is|are) over\b/i, 'ended'),
  rule(/\bmeanwhile\b(?!,)/i, 'in the meantime, or leave it out'),
]

/** Sentences longer than this are refused. Aim for 25. */
const MOST_WORDS = 30

/**
 * Splits Markdown, or the text of a doc comment, into sentences. Each heading, list item and table cell is at least one.
 * Inline code counts as one word and is not judged.
 */
export function sentencesOf(prose: string): readonly string[] {
  const plain = prose
    .replaceAll(/<!--[\s\S]*?-->/g, '')
    .replaceAll(/(`+)[^`][\s\S]*?\1/g, '`code`')
    .replaceAll(/!?\[([^\]]*)\]\([^)\s]*\)/g, '$1')
    .replaceAll(/\{@link\w* [^}]*\}/g, '`code`')
    .replaceAll(/https?:\/\/\S+/g, '`code`')
  const blocks: string[] = ['']
  for (const line of plain.split('\n')) {
    const text = line.replace(/^[\s>]*/, '').trimEnd()
    if (/^\|/.test(text)) blocks.push(...text.split('|'), '')
    else if (text === '' || /^#|^\[!\w+\]|^-{3,}$/.test(text)) blocks.push(text.replace(/^#+ |^\[!\w+\]|^-+$/g, ''), '')
    else if (/^([-*+]|\d+[.)]) |^@\w+/.test(text)) blocks.push(text.replace(/^([-*+]|\d+[.)]|@\w+) ?/, ''))
    else blocks.push(`${blocks.pop() ?? ''} ${text}`)
  }
  return blocks
    .flatMap((block) => block.replaceAll(/\*\*|(?<=\s)[_*]|[_*](?=\s)/g, '').split(/(?<=[.!?][)"'”]?)\s+/))
    .map((sentence) => sentence.trim())
    .filter((sentence) => /\p{L}/u.test(sentence))
}

/** Reports avoided words, each with a better one, and long sentences. */
export function wordFaults(prose: string, rules: readonly WordRule[] = PLAIN_WORDS): readonly string[] {
  return sentencesOf(prose).flatMap((sentence) => {
    const words = sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length
    const long = words > MOST_WORDS ? [`${words} words, make it two sentences: ${sentence}`] : []
    const avoided = rules.flatMap(({ pattern, better }) => {
      const found = pattern.exec(sentence.replaceAll('`code`', '``'))?.[0]
      return found === undefined ? [] : [`"${found}", better "${better}": ${sentence}`]
    })
    return [...long, ...avoided]
  })
}
