import type { HostRequest } from '../../guard/host-types.ts'
import { bodyText } from './body-text.ts'

/**
 * Reads the fields of a form, even if the application's body parser has already read them.
 *
 * @throws RestError if the body cannot be read.
 */
export async function formBody(request: HostRequest): Promise<Readonly<Record<string, string>>> {
  const isParsed = request.body !== undefined && request.readableEnded
  const fields = isParsed ? Object.entries(Object(request.body)) : [...new URLSearchParams(await bodyText(request))]
  return Object.fromEntries(fields.filter((field): field is [string, string] => typeof field[1] === 'string'))
}
