/**
 * Fetches the comments synchronously, because the browser does not wait before it prints. Retries without the nonce if
 * it has expired. Returns the markup, or the status of the response (0 without a response).
 */
export function fetchNow(element: HTMLElement): string | number {
  const { nonce, nonceHeader = '' } = element.dataset
  const request = new XMLHttpRequest()
  try {
    // Fetch only from the same origin: comments of other sites must not be inserted, and the nonce must not leave this
    // site.
    const { href, origin } = new URL(element.getAttribute('src') as string, document.baseURI)
    if (origin !== location.origin) return 0
    request.open('GET', href, false)
    // Without this, the browser would wait for its own pending request for the same URL.
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
