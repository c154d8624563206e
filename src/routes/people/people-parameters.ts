import * as z from 'zod/mini'
import { SHOWN } from './people-page.ts'

const SORTS = ['recent', 'most'] as const
const FORMATS = ['csv', 'json'] as const

/** Parameters that select people. */
export const selection = {
  show: z.optional(z.enum(SHOWN, `must be one of ${SHOWN.join(', ')}`)),
  sort: z.optional(z.enum(SORTS, `must be one of ${SORTS.join(', ')}`)),
}

/** Parameter with the format of a file. */
export const format = z.optional(z.enum(FORMATS, `must be one of ${FORMATS.join(', ')}`))

export type ExportFormat = (typeof FORMATS)[number]
