/** Reads when a license expires, in milliseconds since the Unix epoch, out of a key that says so itself, as offline keys do. */
export function expiryOf(key: string): number | undefined {
  try {
    const claims = key.split('.')[1] ?? ''
    const { exp } = JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/'))) as { exp?: unknown }
    return typeof exp === 'number' && Number.isFinite(new Date(exp * 1000).getTime()) ? exp * 1000 : undefined
  } catch {
    return undefined
  }
}
