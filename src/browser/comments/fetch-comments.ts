const TIMEOUT_MS = 10_000
const TRIES = 3

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * Fetches the comments: once more without the nonce when that has gone stale, up to three times when the server or the
 * network has a bad moment.
 */
export async function fetchComments(element: HTMLElement, signal: AbortSignal): Promise<string> {
  const { nonce: first, nonceHeader = '' } = element.dataset
  let nonce = first
  for (let tries = 1; ; ) {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])
    const headers: Record<string, string> = nonce ? { [nonceHeader]: nonce } : {}
    // Asks the server whether what the browser keeps is still true: one's own new comment shows at once.
    const options: RequestInit = { headers, signal: limit, cache: 'no-cache' }
    const response = await fetch(element.getAttribute('src') ?? '', options).catch(() => undefined)
    if (response?.ok) return ((await response.json()) as { html: string }).html
    signal.throwIfAborted()
    if (response?.status === 403 && nonce) nonce = ''
    else if ((response && response.status < 500 && response.status !== 429) || tries++ >= TRIES) throw response
    else await wait(Number(response?.headers.get('Retry-After')) * 1000 || 300 * tries * (0.75 + Math.random() / 2))
  }
}
