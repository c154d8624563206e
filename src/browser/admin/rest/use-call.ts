import { useCallback, useRef, useState } from 'react'
import { queries, toasts } from '../screen.ts'
import type { TextKey } from '../texts/use-texts.ts'
import { useFailureText } from './use-rest.ts'

/** What happens after a call that changes something on the server. */
interface After<Input, Answer> {
  onSuccess(answer: Answer, input: Input): void
  /** The text for a failure. */
  readonly failed: TextKey
  /** Shows a failure. By default, a toast shows it. */
  onFailure?: ((reason: string, error: unknown, input: Input) => void) | undefined
  /** Subject of the queries to read again, whether the call worked or not. */
  readonly changes?: string
}

/**
 * Calls the server when something is to change there.
 *
 * @returns The function that calls it, which is always the same, and the inputs of the calls that are under way.
 */
export function useCall<Input, Answer>(
  call: (input: Input) => Promise<Answer>,
  after: After<Input, Answer>,
): readonly [run: (input: Input) => void, pending: readonly Input[]] {
  const textOf = useFailureText()
  const [pending, setPending] = useState<readonly Input[]>([])
  const latest = useRef({ call, after, textOf })
  latest.current = { call, after, textOf }
  const run = useCallback(async (input: Input) => {
    setPending((others) => [...others, input])
    try {
      const answer = await latest.current.call(input)
      latest.current.after.onSuccess(answer, input)
    } catch (error) {
      const { failed, onFailure } = latest.current.after
      const reason = latest.current.textOf(error, failed)
      if (onFailure) onFailure(reason, error, input)
      else toasts.show(reason, 'error')
    }
    setPending((all) => all.filter((one) => one !== input))
    const { changes } = latest.current.after
    if (changes) void queries.expire(changes)
  }, [])
  return [run as (input: Input) => void, pending]
}
