const LIMIT_MS = 10_000
const TRIES = 3

/**
 * Fetches the comments within ten seconds: once more without the nonce when that has gone stale, up to three times when
 * the server or the network has a bad moment. Gives the markup, or the status of the last answer, 0 when there was none.
 */
export async function fetchComments(element: HTMLElement, abort: AbortSignal): Promise<string | number> {
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
        // Asks the server whether what the browser keeps is still true: one's own new comment shows at once.
        cache: 'no-cache',
        // Comments of another site must not get in, whatever markup names it.
        mode: 'same-origin',
      })
      if (nonce) dataset.nonce = response.headers.get(nonceHeader) ?? nonce
      if (response.ok) return ((await response.json()) as { html: string }).html
      status = response.status
      pause = Number(response.headers.get('Retry-After')) * 1000
    } catch {
      // An answer that breaks off is no answer.
    }
    pause ||= 300 * tries * (0.75 + Math.random() / 2)
    if (status === 403 && nonce) delete dataset.nonce
    else if (signal.aborted || /^4(?!29)/.test(`${status}`) || tries++ >= TRIES || pause > LIMIT_MS) {
      return status
    } else await new Promise((resolve) => setTimeout(resolve, pause))
  }
}
