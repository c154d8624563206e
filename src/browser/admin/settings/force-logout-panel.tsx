import { useMutation } from '@tanstack/react-query'
import { type SyntheticEvent, useState } from 'react'
import { Button } from '../parts/button.tsx'
import { TextField } from '../parts/fields.tsx'
import { Panel } from '../parts/panel.tsx'
import { useFailureText } from '../rest/use-failure-text.ts'
import { queries, rest, toasts } from '../screen.ts'
import { SESSIONS_KEY } from '../sessions/use-sessions.ts'
import { useTexts } from '../texts/use-texts.ts'
import { CrossSell } from './cross-sell.tsx'
import { LogoutAll } from './logout-all.tsx'

interface Destroyed {
  readonly user: { readonly login: string; readonly display_name: string }
}

/** Draws the panel that signs one user out, or all. */
export function ForceLogoutPanel() {
  const t = useTexts()
  const textOf = useFailureText()
  const [name, setName] = useState('')
  const [problem, setProblem] = useState<string>()
  const { mutate, isPending } = useMutation({
    mutationFn: (user: string) => rest.request<Destroyed>('POST', 'sessmgr/v1/sessions/destroy', { user }),
    onSuccess({ user }) {
      setName('')
      toasts.show(t('force_done', { name: user.display_name || user.login }))
      void queries.invalidateQueries({ queryKey: SESSIONS_KEY })
      // It may have been the person's own account.
      void rest.check().catch(() => {})
    },
    onError: (error) => setProblem(textOf(error, 'force_failed')),
  })

  function submit(event: SyntheticEvent): void {
    event.preventDefault()
    if (name.trim() === '' || isPending) return
    setProblem(undefined)
    mutate(name)
  }

  return (
    <Panel title={t('force')} help={t('force_help')}>
      <form className="line" onSubmit={submit}>
        <TextField
          label={t('user')}
          help={t('user_help')}
          value={name}
          problem={problem}
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
      <LogoutAll />
      <CrossSell />
    </Panel>
  )
}
