import { htmlText } from '../../ground/answer-body.ts'
import type { Say } from '../../texts/texts-for.ts'
import { COMMENT_DEFAULTS, type CommentSettings } from './comment-settings.ts'

/** What stands in a placeholder. */
export interface PlaceholderParts {
  readonly postId: number
  /** Page that shows the post; the same page with `comments=all` shows the comments inline. */
  readonly postUrl: string
  /** Address that the script fetches. */
  readonly source: string
  /** Nonce of a signed-in reader. */
  readonly nonce: string | undefined
  readonly nonceHeader: string
  readonly settings: CommentSettings
  /** Gives what the reader of the page reads. */
  readonly say: Say
}

/** What the script says, by attribute. It stands in the page, so that the script is the same in every language. */
const SAID = {
  done: 'comments_loaded_other',
  one: 'comments_loaded_one',
  lost: 'comments_lost',
  error: 'comments_failed',
  retry: 'comments_retry',
} as const

/**
 * Writes the placeholder: a custom element for the script around a real link, which is what there is without it, and
 * the path that search engines take. The places for messages are there from the start, so that they are read out.
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

/** An address that would run a script leads nowhere; without one the link leads to the page on which it stands. */
const isWebAddress = (url: string) =>
  URL.canParse(url, 'http://page') && /^https?:$/.test(new URL(url, 'http://page').protocol)
