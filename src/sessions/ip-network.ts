/** Returns the network of an IPv6 address that has its first groups. There are at most four. */
export function prefixOf(address: string, groups: number): string {
  const [head = '', tail] = address.split('::')
  const front = head === '' ? [] : head.split(':')
  // An embedded IPv4 address counts as two groups. It is at the end, so it never reaches the first four groups.
  const back = tail ? tail.split(':').length + (tail.includes('.') ? 1 : 0) : 0
  const zeros = tail === undefined ? 0 : 8 - front.length - back
  const all = [...front, ...Array<string>(Math.max(0, zeros)).fill('0'), ...(tail?.split(':') ?? [])]
  return `${all
    .slice(0, groups)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::`
}
