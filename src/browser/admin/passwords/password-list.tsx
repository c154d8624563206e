import { useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/feedback/confirm.tsx'
import { timeAgo } from '../sessions/time-words.ts'
import { useTexts } from '../texts/use-texts.ts'
import { type Password, type UserPasswords, useRevokePassword } from './use-passwords.ts'

/** Age up to which a use is sure to be known, in seconds. Earlier ones may be forgotten, or were never recorded. */
const SURE = 60 * 60

const isNew = (created: number) => Date.now() / 1000 - created < SURE

/** Renders a user's passwords, each with a button that revokes it after asking. */
export function PasswordList({ found: { user, passwords } }: { found: UserPasswords }) {
  const t = useTexts()
  const [asking, setAsking] = useState<Password>()
  const revoke = useRevokePassword(user.id)
  if (passwords.length === 0) return <p className="line-text">{t('p_none')}</p>
  return (
    <>
      <ul className="passwords">
        {passwords.map((password) => {
          const { id, name, created, last_used } = password
          const isBusy = revoke.isPending && revoke.variables.id === id
          return (
            <li key={id}>
              <div>
                <h4>
                  <bdi>{name}</bdi>
                </h4>
                <p className="help">
                  {t('p_made', { when: timeAgo(created * 1000) })} ·{' '}
                  {last_used === null
                    ? t(isNew(created) ? 'p_unused_yet' : 'p_unused')
                    : t('p_used', { when: timeAgo(last_used * 1000) })}
                </p>
              </div>
              <Button
                tone="danger"
                busy={isBusy && t('p_revoking')}
                aria-label={t('p_revoke_named', { name })}
                onClick={() => setAsking(password)}
              >
                {t('p_revoke')}
              </Button>
            </li>
          )
        })}
      </ul>
      <Confirm
        open={asking !== undefined}
        title={t('p_revoke_title', { name: asking?.name ?? '' })}
        action={t('p_revoke_action')}
        onConfirm={() => asking && revoke.mutate(asking)}
        onClose={() => setAsking(undefined)}
      >
        <p>{t('p_revoke_text')}</p>
      </Confirm>
    </>
  )
}
