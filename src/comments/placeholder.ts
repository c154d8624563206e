import type { CommentSettings } from './comment-settings.ts'
import { htmlText } from './html-text.ts'

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
}

/** What the script says. It stands in the page, so that the script is the same in every language. */
const TEXTS = {
  done: '% comments loaded',
  one: '% comment loaded',
  lost: 'What this link leads to is no longer here.',
  error: 'Comments could not be loaded.',
  retry: 'Try again',
}

/**
 * Writes the placeholder: a custom element for the script around a real link, which is what there is without it, and
 * the path that search engines take. The places for messages are there from the start, so that they are read out.
 */
export function placeholder({ settings, nonce, ...parts }: PlaceholderParts): string {
  const attributes = {
    post: String(parts.postId),
    src: parts.source,
    method: settings.load_method,
    ...(settings.show_loader ? { loader: '' } : {}),
    ...(nonce === undefined ? {} : { 'data-nonce': nonce, 'data-nonce-header': parts.nonceHeader }),
    ...Object.fromEntries(Object.entries(TEXTS).map(([name, text]) => [`data-${name}`, text])),
  }
  const style = settings.button_style === 'custom' ? ['lazycomments-custom'] : []
  const classes = ['lazycomments-button', ...style, ...settings.button_class.split(' ')].filter(Boolean).join(' ')
  const link = `<a class="${htmlText(classes)}" href="${htmlText(inlineUrl(parts.postUrl))}">${htmlText(settings.button_text)}</a>`
  const written = Object.entries(attributes).map(([name, value]) => ` ${name}="${htmlText(value)}"`)
  const note = (role: string) => `<span class="lazycomments-${role}" role="${role}"></span>`
  return `<lazy-comments id="comments"${written.join('')}>${note('status')}${link}${note('alert')}</lazy-comments>`
}

function inlineUrl(postUrl: string): string {
  const [page = ''] = isWebAddress(postUrl) ? postUrl.split('#', 1) : []
  return `${page}${page.includes('?') ? '&' : '?'}comments=all#comments`
}

/** An address that would run a script leads nowhere; without one the link leads to the page on which it stands. */
const isWebAddress = (url: string) =>
  URL.canParse(url, 'http://page') && /^https?:$/.test(new URL(url, 'http://page').protocol)
