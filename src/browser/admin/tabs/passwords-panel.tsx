import { type SyntheticEvent, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { Button } from '../parts/button.tsx'
import { useConfirm } from '../parts/dialog.tsx'
import { Failed } from '../parts/feedback.tsx'
import { EXACT, TextField } from '../parts/fields.tsx'
import { Panel } from '../parts/panel.tsx'
import { useCopy } from '../parts/use-copy.ts'
import type { Query } from '../rest/queries.ts'
import { RestFailure } from '../rest/rest-client.ts'
import { serverNow } from '../rest/server-clock.ts'
import { useCall } from '../rest/use-call.ts'
import { useQuery } from '../rest/use-rest.ts'
import { rest, toasts } from '../screen.ts'
import { timeAgo } from '../sessions/time-words.ts'
import { nameOf } from '../sessions/use-sessions.ts'
import { useTexts } from '../texts/use-texts.ts'

/** Renders the panel of application passwords: the user's own or another user's. */
export function PasswordsPanel() {
  const t = useTexts()
  const [user, setUser] = useState('')
  const { data, error, read, isReading } = useQuery(passwordsQuery(user))
  const isNobody = error instanceof RestFailure && (error.status === 404 || error.status === 409)
  return (
    <Panel title={t('p_title')} help={t('p_help')}>
      {!data && !error && <div className="bone field-bone" />}
      {!data && error && !isNobody && <Failed error={error} what="p_failed" retry={read} isRetrying={isReading} />}
      {data && <Found found={data} isOwn={user === ''} onBack={() => setUser('')} />}
      <OtherUser user={user} problem={isNobody ? error.message : undefined} onShow={setUser} />
    </Panel>
  )
}

function Found({ found, isOwn, onBack }: { found: UserPasswords; isOwn: boolean; onBack: () => void }) {
  const t = useTexts()
  const { user, passwords } = found
  return (
    <>
      <div className="password-list">
        <div className="password-head">
          <h3>{isOwn ? t('p_yours') : t('p_of', { name: nameOf(user) })}</h3>
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
    <form className="line divided" onSubmit={submit}>
      <TextField
        label={t('p_another')}
        help={t('p_another_help')}
        value={name}
        problem={name.trim() === user ? problem : undefined}
        {...EXACT}
        onChange={setName}
      />
      <Button type="submit" disabled={name.trim() === ''}>
        {t('p_show')}
      </Button>
    </form>
  )
}

/** Up to this age in seconds, a password without a recorded use is certainly unused. Older records may be lost. */
const SURE = 60 * 60

const isNew = (created: number) => serverNow() / 1000 - created < SURE

/** Renders a user's passwords, each with a button that revokes it after a confirmation. */
function PasswordList({ found: { user, passwords } }: { found: UserPasswords }) {
  const t = useTexts()
  const [revoke, revoking] = useCall(
    ({ id }: Password) => rest.request('DELETE', `${PATH}/${encodeURIComponent(id)}`, { id: user.id }),
    {
      failed: 'p_revoke_failed',
      changes: SUBJECT,
      onSuccess: (_answer, { name }) => toasts.show(t('p_revoked', { name })),
      onFailure(reason, error, { name }) {
        const isGone = error instanceof RestFailure && error.code === 'password_not_found'
        if (isGone) toasts.show(t('p_revoke_gone', { name }))
        else toasts.show(reason, 'error')
      },
    },
  )
  const [ask, dialog] = useConfirm(
    ({ name }: Password) => ({
      title: t('p_revoke_title', { name }),
      action: t('p_revoke_action'),
      text: <p>{t('p_revoke_text')}</p>,
    }),
    revoke,
  )
  if (passwords.length === 0) return <p className="line-text">{t('p_none')}</p>
  return (
    <>
      <ul className="passwords">
        {passwords.map((password) => {
          const { id, name, created, last_used } = password
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
                busy={revoking.includes(password) && t('p_revoking')}
                aria-label={t('p_revoke_named', { name })}
                onClick={() => ask(password)}
              >
                {t('p_revoke')}
              </Button>
            </li>
          )
        })}
      </ul>
      {dialog}
    </>
  )
}

/** Renders the form that creates a password, then shows the new password once. */
function CreatePassword({ passwords }: { passwords: readonly Password[] }) {
  const t = useTexts()
  const [name, setName] = useState('')
  const [problem, setProblem] = useState<string>()
  const [created, setCreated] = useState<NewPassword>()
  const place = useRef<HTMLDivElement>(null)
  const shown = useRef<NewPassword>(undefined)
  const [create, creating] = useCall((wanted: string) => rest.request<NewPassword>('POST', PATH, { name: wanted }), {
    failed: 'p_create_failed',
    onFailure: setProblem,
    changes: SUBJECT,
    onSuccess(answer) {
      setName('')
      setCreated(answer)
    },
  })
  const isCreating = creating.length > 0
  useLayoutEffect(() => {
    // The element that had the focus is gone, and keyboard users would lose their place.
    if (shown.current !== created) place.current?.querySelector<HTMLElement>('button, input')?.focus()
    shown.current = created
  }, [created])

  const isListed = passwords.some(({ id }) => id === created?.id)
  const wasListed = useRef(false)
  useEffect(() => {
    if (created && wasListed.current && !isListed) done()
    wasListed.current = isListed
  })

  function submit(event: SyntheticEvent): void {
    event.preventDefault()
    if (isCreating) return
    if (name.trim() === '') return setProblem(t('p_name_empty'))
    setProblem(undefined)
    create(name.trim())
  }

  const done = () => setCreated(undefined)

  return (
    <div ref={place}>
      {created ? (
        <ShownOnce created={created} onDone={done} />
      ) : (
        <form className="line" onSubmit={submit} noValidate>
          <TextField
            label={t('p_name')}
            help={t('p_name_help')}
            value={name}
            problem={problem}
            readOnly={isCreating}
            maxLength={100}
            autoComplete="off"
            spellCheck={false}
            onChange={(text) => {
              setName(text)
              setProblem(undefined)
            }}
          />
          <Button type="submit" busy={isCreating && t('p_creating')}>
            {t('p_create')}
          </Button>
        </form>
      )}
    </div>
  )
}

function ShownOnce({ created: { name, password }, onDone }: { created: NewPassword; onDone: () => void }) {
  const t = useTexts()
  const copy = useCopy()
  return (
    <section className="new-password" aria-label={t('p_new', { name })}>
      <div role="status">
        <h3>{t('p_new', { name })}</h3>
        <p>{t('p_new_help')}</p>
      </div>
      <div className="copy-line">
        <code>{password}</code>
        <Button tone="primary" aria-label={t('p_copy')} onClick={() => void copy(password)}>
          {t('s_copy')}
        </Button>
        <Button onClick={onDone}>{t('p_done')}</Button>
      </div>
    </section>
  )
}

const SUBJECT = 'application-passwords'
const PATH = 'sessmgr/v1/application-passwords'

/** An application password. Times are in Unix seconds. */
interface Password {
  readonly id: string
  readonly name: string
  readonly created: number
  /** Time of the last use. Null if unknown. */
  readonly last_used: number | null
}

/** A new password, with the only copy of its secret. */
interface NewPassword extends Password {
  readonly password: string
}

/** A user's application passwords, oldest first. */
interface UserPasswords {
  readonly user: { readonly id: string | number; readonly login: string; readonly display_name: string }
  readonly passwords: readonly Password[]
}

/** Returns the query that reads a user's passwords, or the signed-in user's own for an empty name. */
function passwordsQuery(user: string): Query<UserPasswords> {
  return { key: [SUBJECT, user], path: () => (user === '' ? PATH : `${PATH}?${new URLSearchParams({ user })}`) }
}
