import { invalidOption } from '../../ground/invalid-option.ts'
import { inWords, requireKnown, requireObject } from '../../ground/option-checks.ts'
import { requireUserId } from '../../ground/user-id.ts'
import type { EndedByWhom, SessionEnd } from '../../sessions/session-end.ts'

const NAMES = ['by', 'actor', 'device', 'note'] as const satisfies readonly (keyof EndedByWhom)[]
const KINDS = ['user', 'admin', 'app'] as const
/** Longer than any device name, but shorter than nearly every user agent. */
const DEVICE_LENGTH = 64
const NOTE_LENGTH = 200

/**
 * Describes the end of a session by a call such as `sessions.end()`.
 *
 * @throws SessmgrError `invalid_option`, `user_id_missing`.
 */
export function endByWhom(whom: EndedByWhom = {}): SessionEnd {
  requireObject('The last argument of a call that ends sessions', whom)
  requireKnown(whom, NAMES)
  const { by = 'app', actor, device, note } = whom
  if (!KINDS.includes(by)) throw invalidOption(`"by" must be one of ${KINDS.join(', ')}; got ${inWords(by)}`)
  if (actor !== undefined) requireUserId(actor)
  requireText('device', device, DEVICE_LENGTH)
  requireText('note', note, NOTE_LENGTH)
  return {
    kind: by,
    at: Date.now(),
    ...((actor !== undefined || device !== undefined) && {
      by: { ...(actor !== undefined && { actor }), device: device ?? null, ip: null },
    }),
    ...(note !== undefined && { note }),
  }
}

function requireText(name: string, text: unknown, most: number): void {
  if (text === undefined || (typeof text === 'string' && text.length <= most)) return
  throw invalidOption(`"${name}" must be a string of at most ${most} characters`)
}
