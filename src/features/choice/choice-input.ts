import type { HostRequest } from '../../guard/host-types.ts'
import { sendsJson } from '../../middleware/script-request.ts'
import { RestError } from '../../routes/answer.ts'
import { bodyText, jsonBody } from '../../routes/body.ts'

/** More sessions than a page can list. */
const MOST_ENDS = 100

/** What a client sends to the choice page. */
export interface ChoiceInput {
  /** Tokens of the sessions to end. Anything that is not a token becomes an empty string. */
  readonly ends: readonly string[]
  /** Whether to end all sessions. */
  readonly all: boolean
  /** Whether to give up the login. */
  readonly cancel: boolean
  /** The secret of the login, if the body has it. */
  readonly pending: string | undefined
  /** All fields that are strings. */
  readonly fields: Readonly<Record<string, string>>
}

const TOO_MUCH: ChoiceInput = { ends: [''], all: false, cancel: false, pending: undefined, fields: {} }

/**
 * Reads the body of a choice. A body that is too large counts as an empty choice.
 *
 * @throws RestError if the body cannot be read.
 */
export async function choiceInput(request: HostRequest): Promise<ChoiceInput> {
  try {
    return inputOf(sendsJson(request) ? ((await jsonBody(request)) ?? {}) : await formOf(request))
  } catch (error) {
    if (error instanceof RestError && error.status === 413) return TOO_MUCH
    throw error
  }
}

/** Reads a form, even if the application's body parser has already read it. */
async function formOf(request: HostRequest): Promise<Readonly<Record<string, unknown>>> {
  if (request.body !== undefined && request.readableEnded) return Object(request.body)
  const form = new URLSearchParams(await bodyText(request))
  return { ...Object.fromEntries(form), end: form.getAll('end') }
}

function inputOf(body: Readonly<Record<string, unknown>>): ChoiceInput {
  const { end, all, cancel, pending } = body
  // Body parsers turn repeated fields into an array or, if there are many, into an object.
  const given = end === undefined ? [] : Object.values(Object(typeof end === 'object' ? end : [end]))
  const strings = Object.entries(body).filter((field): field is [string, string] => typeof field[1] === 'string')
  return {
    ends: given.length > MOST_ENDS ? [''] : [...new Set(given.map((one) => (typeof one === 'string' ? one : '')))],
    all: isYes(all),
    cancel: isYes(cancel),
    pending: typeof pending === 'string' ? pending : undefined,
    fields: Object.fromEntries(strings),
  }
}

const isYes = (value: unknown): boolean => value === true || value === '1'
