import { type UseQueryResult, useMutation, useQuery } from '@tanstack/react-query'
import { rereading } from '../rest/rereading.ts'
import { RestFailure } from '../rest/rest-failure.ts'
import { useFailureText } from '../rest/use-failure-text.ts'
import { queries, rest, toasts } from '../screen.ts'
import { useTexts } from '../texts/use-texts.ts'

const KEY = ['application-passwords']
const PATH = 'sessmgr/v1/application-passwords'

/** An application password. Times are in Unix seconds. */
export interface Password {
  readonly id: string
  readonly name: string
  readonly created: number
  /** Null if unknown. */
  readonly last_used: number | null
}

/** A password that was just created, with the only copy of it. */
export interface NewPassword extends Password {
  readonly password: string
}

/** A user's application passwords, oldest first. */
export interface UserPasswords {
  readonly user: { readonly id: string | number; readonly login: string; readonly display_name: string }
  readonly passwords: readonly Password[]
}

/** Reads a user's passwords, or one's own for an empty name. */
export function usePasswords(user: string): UseQueryResult<UserPasswords> {
  const path = user === '' ? PATH : `${PATH}?${new URLSearchParams({ user })}`
  return useQuery(rereading<UserPasswords>([...KEY, user], path))
}

/** Creates a password for oneself. The answer is passed on and kept nowhere else. */
export function useCreatePassword(onCreated: (created: NewPassword) => void) {
  return useMutation({
    mutationFn: (name: string) => rest.request<NewPassword>('POST', PATH, { name }),
    gcTime: 0,
    onSuccess(created, _name, _context) {
      onCreated(created)
      void queries.invalidateQueries({ queryKey: KEY })
    },
  })
}

/** Revokes a password of a user. */
export function useRevokePassword(user: string | number | undefined) {
  const t = useTexts()
  const textOf = useFailureText()
  return useMutation({
    mutationFn: ({ id }: Password) => rest.request('DELETE', `${PATH}/${encodeURIComponent(id)}`, { id: user }),
    onSuccess: (_answer, { name }) => toasts.show(t('p_revoked', { name })),
    onError(error, { name }) {
      const isGone = error instanceof RestFailure && error.code === 'password_not_found'
      if (isGone) toasts.show(t('p_revoke_gone', { name }))
      else toasts.show(textOf(error, 'p_revoke_failed'), 'error')
    },
    onSettled: () => queries.invalidateQueries({ queryKey: KEY }),
  })
}
