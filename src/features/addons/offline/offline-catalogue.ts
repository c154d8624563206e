import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import * as z from 'zod/mini'
import { SessmgrError } from '../../../ground/errors.ts'
import { LicensingError } from '../licensing/licensing-error.ts'
import type { RawAddon } from '../licensing/licensing-provider.ts'
import { productId } from './license-claims.ts'

const optionalText = z._default(z.string('must be a string'), '')

const entry = z.object({
  id: productId,
  slug: z.string('must be a string').check(z.minLength(1, 'must not be empty')),
  title: z.string('must be a string').check(z.minLength(1, 'must not be empty')),
  is_premium: z.boolean('must be true or false'),
  icon: z._default(z.nullable(z.string('must be a string')), null),
  link: optionalText,
  description: optionalText,
  homepage: optionalText,
  banner: optionalText,
  banner_large: optionalText,
})
const entries = z
  .array(entry, 'must be an array')
  .check(z.refine((list) => new Set(list.map(({ id }) => id)).size === list.length, 'must not have duplicate ids'))

/** An add-on in the application's own list. Only `id`, `slug`, `title` and `is_premium` are required. */
export type OfflineAddon = Pick<RawAddon, 'id' | 'slug' | 'title' | 'is_premium'> &
  Partial<Omit<RawAddon, 'id' | 'slug' | 'title' | 'is_premium' | 'raw'>>

/**
 * Creates the reader of a local catalogue.
 *
 * @param source The add-ons, or the path of a JSON file, which is read on every call.
 * @throws SessmgrError `invalid_option` with what is wrong with an invalid catalogue.
 */
export function offlineCatalogue(source: string | readonly OfflineAddon[]): () => Promise<readonly RawAddon[]> {
  const refuse = (problem: string) => {
    throw new SessmgrError('invalid_option', `"catalogue" ${problem}.`)
  }
  if (typeof source !== 'string') {
    const addons = addonsOf(source, refuse)
    return async () => structuredClone(addons)
  }
  try {
    addonsOf(parse(readFileSync(source, 'utf8'), refuse), refuse)
  } catch (error) {
    throw error instanceof SessmgrError ? error : refuse(`cannot be read: ${(error as Error).message}`)
  }
  return async () => {
    const fail = (problem: string): never => {
      throw new LicensingError('provider_bad_response', { message: `The catalogue file ${problem}.` })
    }
    const text = await readFile(source, 'utf8').catch(() => fail('cannot be read'))
    return addonsOf(parse(text, fail), fail)
  }
}

function parse(text: string, refuse: (problem: string) => never): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return refuse('is not valid JSON')
  }
}

function addonsOf(value: unknown, refuse: (problem: string) => never): readonly RawAddon[] {
  const parsed = entries.safeParse(value)
  if (parsed.success) return parsed.data.map((addon) => ({ ...addon, raw: { ...addon } }))
  const [issue] = parsed.error.issues
  const place = issue?.path.length ? `is wrong at ${issue.path.join('.')}: it ` : ''
  return refuse(`${place}${issue?.message}`)
}
