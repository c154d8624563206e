import { promisify } from 'node:util'
import type { HostRequest } from '../guard/host-types.ts'
import { RestAnswer } from './rest-answer.ts'

/** Below this size, compressing takes longer than it saves. */
const LONG_BYTES = 8_192

/**
 * Returns a response compressed with gzip if it is long, not cached, and the client accepts it. A session list of 500 has
 * 200 kB, most of it the same.
 */
export async function compressed(answer: RestAnswer, { headers: { 'accept-encoding': codings } }: HostRequest) {
  const { status, type, text, headers } = answer
  if (text.length < LONG_BYTES || headers['Cache-Control'] !== 'no-store') return answer
  if (!acceptsCoding(String(codings ?? ''), 'gzip')) return answer
  const { gzip } = await import('node:zlib')
  const body = await promisify(gzip)(text)
  // The tag names the text. Its compressed form is the same text in other bytes, which only a weak tag may name.
  const tag = headers.ETag && { ETag: `W/${headers.ETag}` }
  return new RestAnswer(body, { status, type, headers: { ...headers, ...tag, 'Content-Encoding': 'gzip' } })
}

/** Checks whether an `Accept-Encoding` header accepts a content coding, which `q=0` refuses. */
export function acceptsCoding(header: string, coding: string): boolean {
  return new RegExp(`(^|,)\\s*${coding}\\s*(,|$|;(?!\\s*q=0(\\.0*)?\\s*(,|$)))`).test(header)
}
