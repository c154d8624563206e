import { htmlText } from '../../ground/answer-body.ts'
import type { Say } from '../../texts/texts-for.ts'
import { COMMENT_DEFAULTS } from './comment-settings.ts'
import type { CommentSettings } from './lazy-comments.ts'

/** The data of a placeholder. */
interface PlaceholderParts {
  readonly postId: number
  /** URL of the post's page. With `comments=all` added, the page shows the comments inline. */
  readonly postUrl: string
  /** URL that the script fetches. */
  readonly source: string
  /** Nonce of a signed-in reader. */
  readonly nonce: string | undefined
  readonly nonceHeader: string
  readonly settings: CommentSettings
  /** Returns a text in the reader's language. */
  readonly say: Say
}

/** Texts of the script, by attribute. They are part of the page, so that the script is the same in every language. */
const SAID = {
  done: 'comments_loaded_other',
  one: 'comments_loaded_one',
  lost: 'comments_lost',
  error: 'comments_failed',
  retry: 'comments_retry',
} as const

/**
 * Renders the placeholder: a custom element around a real link, for search engines and readers without the script. The
 * elements for messages exist from the start, so that screen readers announce their content.
 */
export function placeholder({ settings, nonce, say, ...parts }: PlaceholderParts): string {
  const attributes = {
    post: String(parts.postId),
    src: parts.source,
    method: settings.load_method,
    ...(settings.show_loader ? { loader: '' } : {}),
    ...(nonce === undefined ? {} : { 'data-nonce': nonce, 'data-nonce-header': parts.nonceHeader }),
    ...Object.fromEntries(Object.entries(SAID).map(([name, key]) => [`data-${name}`, say(key)])),
  }
  const style = settings.button_style === 'custom' ? ['lazycomments-custom'] : []
  const classes = ['lazycomments-button', ...style, ...settings.button_class.split(' ')].filter(Boolean).join(' ')
  const url = inlineUrl(parts.postUrl)
  const isOwn = settings.button_text !== COMMENT_DEFAULTS.button_text
  const label = isOwn ? settings.button_text : say('comments_button')
  const link = `<a class="${htmlText(classes)}" href="${htmlText(url)}">${htmlText(label)}</a>`
  const print = `<span class="lazycomments-print">${htmlText(say('comments_print', { url }))}</span>`
  const written = Object.entries(attributes).map(([name, value]) => ` ${name}="${htmlText(value)}"`)
  const note = (role: string) => `<span class="lazycomments-${role}" role="${role}"></span>`
  return `<lazy-comments id="comments"${written.join('')}>${note('status')}${note('alert')}${link}${print}</lazy-comments>`
}

function inlineUrl(postUrl: string): string {
  const [page = ''] = isWebAddress(postUrl) ? postUrl.split('#', 1) : []
  return `${page}${page.includes('?') ? '&' : '?'}comments=all#comments`
}

/**
 * Checks for a web URL, because any other URL could run a script. Without a web URL, the link points to the current
 * page.
 */
const isWebAddress = (url: string) =>
  URL.canParse(url, 'http://page') && /^https?:$/.test(new URL(url, 'http://page').protocol)
