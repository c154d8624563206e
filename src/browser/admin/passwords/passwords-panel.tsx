import { type SyntheticEvent, useLayoutEffect, useRef, useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Failed } from '../parts/feedback/failed.tsx'
import { TextField } from '../parts/forms/fields.tsx'
import { Panel } from '../parts/panel.tsx'
import { RestFailure } from '../rest/rest-failure.ts'
import { nameOf } from '../sessions/use-sessions.ts'
import { useTexts } from '../texts/use-texts.ts'
import { CreatePassword } from './create-password.tsx'
import { PasswordList } from './password-list.tsx'
import { type UserPasswords, usePasswords } from './use-passwords.ts'
import './passwords.css'

/** Renders the panel of the application passwords: one's own, or those of another user. */
export function PasswordsPanel() {
  const t = useTexts()
  const [user, setUser] = useState('')
  const { data, error, refetch, isFetching } = usePasswords(user)
  const isNobody = error instanceof RestFailure && (error.status === 404 || error.status === 409)
  return (
    <Panel title={t('p_title')} help={t('p_help')}>
      {!data && !error && <div className="bone field-bone" />}
      {!data && error && !isNobody && (
        <Failed error={error} fallback="p_failed" retry={refetch} isRetrying={isFetching} />
      )}
      {data && <Found found={data} isOwn={user === ''} onBack={() => setUser('')} />}
      <OtherUser user={user} problem={isNobody ? error.message : undefined} onShow={setUser} />
    </Panel>
  )
}

function Found({ found, isOwn, onBack }: { found: UserPasswords; isOwn: boolean; onBack: () => void }) {
  const t = useTexts()
  const { user, passwords } = found
  const heading = useRef<HTMLHeadingElement>(null)
  const shown = useRef<UserPasswords['passwords']>(undefined)
  useLayoutEffect(() => {
    const isChanged = shown.current !== undefined && shown.current !== passwords
    shown.current = passwords
    // The button of a revoked password is gone, and keyboard users would lose their place.
    if (isChanged && document.activeElement === document.body) heading.current?.focus({ preventScroll: true })
  }, [passwords])
  return (
    <>
      <div className="password-list">
        <div className="password-head">
          <h3 ref={heading} tabIndex={-1}>
            {isOwn ? t('p_yours') : t('p_of', { name: nameOf(user) })}
          </h3>
          {!isOwn && (
            <Button tone="quiet" onClick={onBack}>
              {t('p_back')}
            </Button>
          )}
        </div>
        <PasswordList found={found} />
      </div>
      {isOwn && <CreatePassword passwords={passwords} />}
    </>
  )
}

/** Renders the form that chooses whose passwords are shown. */
function OtherUser({
  user,
  problem,
  onShow,
}: {
  user: string
  problem: string | undefined
  onShow: (user: string) => void
}) {
  const t = useTexts()
  const [name, setName] = useState('')
  function submit(event: SyntheticEvent): void {
    event.preventDefault()
    if (name.trim() !== '') onShow(name.trim())
  }
  return (
    <form className="line divided-above" onSubmit={submit}>
      <TextField
        label={t('p_another')}
        help={t('p_another_help')}
        value={name}
        problem={name.trim() === user ? problem : undefined}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        onChange={setName}
      />
      <Button type="submit" disabled={name.trim() === ''}>
        {t('p_show')}
      </Button>
    </form>
  )
}
