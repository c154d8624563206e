const LIMIT_MS = 10_000
const TRIES = 3

/** Why there are no comments. */
interface Failure {
  /** Status of the last response, or 0 if there was none. */
  readonly status: number
  /** When the server asks to try again, if that is more than ten seconds away. */
  readonly until?: number | false
}

/** The markup of the comments, or why there is none. */
export type Fetched = string | Failure

/**
 * Fetches the comments. Gives up after ten seconds. Retries without the nonce if it has expired. If the server or the
 * network fails, tries three times in total.
 */
export async function fetchComments(element: HTMLElement, abort: AbortSignal): Promise<Fetched> {
  const { dataset } = element

  const signal = AbortSignal.any([abort, AbortSignal.timeout(LIMIT_MS)])
  for (let tries = 1; ; ) {
    const { nonce, nonceHeader = '' } = dataset
    let status = 0
    let pause = 0
    try {
      const response = await fetch(element.getAttribute('src') as string, {
        signal,
        headers: nonce ? { [nonceHeader]: nonce } : {},
        // Revalidate, so that readers see their own new comment at once.
        cache: 'no-cache',
        // Comments of another site must never be inserted.
        mode: 'same-origin',
      })
      if (nonce) dataset.nonce = response.headers.get(nonceHeader) ?? nonce
      if (response.ok) return ((await response.json()) as { html: string }).html
      status = response.status
      // Without a call to Number(), the script is smaller.
      pause = (response.headers.get('Retry-After') as unknown as number) * 1000
    } catch {
      // Treat an incomplete response as a missing one.
    }
    pause ||= 300 * tries * (0.75 + Math.random() / 2)
    if (status === 403 && nonce) delete dataset.nonce
    else if (signal.aborted || /^4(?!29)/.test(`${status}`) || tries++ >= TRIES || pause > LIMIT_MS) {
      return { status, until: pause > LIMIT_MS && Date.now() + pause }
    } else await new Promise((resolve) => setTimeout(resolve, pause))
  }
}

/**
 * Fetches the comments synchronously, because the browser does not wait before it prints. Retries without the nonce if
 * it has expired.
 */
export function fetchNow(element: HTMLElement): Fetched {
  const { nonce, nonceHeader = '' } = element.dataset
  const request = new XMLHttpRequest()
  try {
    // Fetch only from the same origin: comments of other sites must not be inserted, and the nonce must not leave this
    // site.
    const { href, origin } = new URL(element.getAttribute('src') as string, document.baseURI)
    if (origin !== location.origin) return { status: 0 }
    request.open('GET', href, false)
    // Without this header, the browser would wait for its own pending request for the same URL.
    request.setRequestHeader('Cache-Control', 'no-cache')
    if (nonce) request.setRequestHeader(nonceHeader, nonce)
    request.send()
    const { status } = request
    if (status === 403 && nonce) {
      delete element.dataset.nonce
      return fetchNow(element)
    }
    return status === 200 && request.responseURL === href ? JSON.parse(request.response).html : { status }
  } catch {
    return { status: 0 }
  }
}
