import { useMutation } from '@tanstack/react-query'
import { type SyntheticEvent, useState } from 'react'
import { Button } from '../parts/button.tsx'
import { TextField } from '../parts/forms/fields.tsx'
import { Panel } from '../parts/panel.tsx'
import { useFailureText } from '../rest/use-failure-text.ts'
import { queries, rest, toasts } from '../screen.ts'
import { ConfirmEverywhere } from '../sessions/confirm-everywhere.tsx'
import { SignOutEverybody } from '../sessions/sign-out-everybody.tsx'
import { nameOf, readSessions, SESSIONS_KEY, type UserSessions } from '../sessions/use-sessions.ts'
import { useTexts } from '../texts/use-texts.ts'
import { CrossSell } from './cross-sell.tsx'

/** Renders the panel that signs out one user or all. It always asks for confirmation first. */
export function ForceLogoutPanel() {
  const t = useTexts()
  const textOf = useFailureText()
  const [name, setName] = useState('')
  const [problem, setProblem] = useState<string>()
  const [found, setFound] = useState<UserSessions>()
  const fail = (error: unknown) => setProblem(textOf(error, 'force_failed'))
  const end = useMutation({
    mutationFn: (_found: UserSessions) => rest.request('POST', 'sessmgr/v1/sessions/destroy', { user: name }),
    onSuccess(_answer, { user, sessions }) {
      setName('')
      toasts.show(t(sessions.length > 0 ? 'force_done' : 'force_none', { name: nameOf(user) }))
      void queries.invalidateQueries({ queryKey: SESSIONS_KEY })
      // Users may have signed out their own account.
      void rest.check().catch(() => {})
    },
    onError: fail,
  })
  const find = useMutation({
    mutationFn: () => readSessions(name),
    // If none is listed, end all anyway: there may be unregistered sessions from before a restart.
    onSuccess: (answer) => (answer.sessions.length > 0 ? setFound(answer) : end.mutate(answer)),
    onError: fail,
  })
  const isPending = find.isPending || end.isPending

  function submit(event: SyntheticEvent): void {
    event.preventDefault()
    if (name.trim() === '' || isPending || found) return
    setProblem(undefined)
    find.mutate()
  }

  return (
    <Panel title={t('force')} help={t('force_help')}>
      <form className="line" onSubmit={submit}>
        <TextField
          label={t('user')}
          help={t('user_help')}
          value={name}
          problem={problem}
          readOnly={isPending}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          onChange={(text) => {
            setName(text)
            setProblem(undefined)
          }}
        />
        <Button type="submit" tone="danger" disabled={name.trim() === ''} busy={isPending && t('force_busy')}>
          {t('force')}
        </Button>
      </form>
      <ConfirmEverywhere
        found={found}
        onConfirm={() => found && end.mutate(found)}
        onClose={() => setFound(undefined)}
      />
      <div className="line divided">
        <p className="line-text">{t('all_help')}</p>
        <SignOutEverybody inSettings />
      </div>
      <CrossSell />
    </Panel>
  )
}
