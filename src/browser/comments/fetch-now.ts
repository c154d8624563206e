/**
 * Fetches the comments while everything else waits: nothing that takes longer is printed. Once more without the nonce when
 * that has gone stale. Gives the markup, or the status of the answer, 0 when there was none.
 */
export function fetchNow(element: HTMLElement): string | number {
  const { nonce, nonceHeader = '' } = element.dataset
  const request = new XMLHttpRequest()
  try {
    // Comments of another site must not get in, whatever markup names it, nor the nonce get out.
    const { href, origin } = new URL(element.getAttribute('src') as string, document.baseURI)
    if (origin !== location.origin) return 0
    request.open('GET', href, false)
    // Without this the browser would wait for what it has asked that address for already.
    request.setRequestHeader('Cache-Control', 'no-cache')
    if (nonce) request.setRequestHeader(nonceHeader, nonce)
    request.send()
    const { status } = request
    if (status === 403 && nonce) {
      delete element.dataset.nonce
      return fetchNow(element)
    }
    return status === 200 && request.responseURL === href ? JSON.parse(request.response).html : status
  } catch {
    return 0
  }
}
