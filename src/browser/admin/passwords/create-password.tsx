import { type SyntheticEvent, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { Button } from '../parts/button.tsx'
import { TextField } from '../parts/forms/fields.tsx'
import { useCopy } from '../parts/use-copy.ts'
import { useFailureText } from '../rest/use-failure-text.ts'
import { useTexts } from '../texts/use-texts.ts'
import { type NewPassword, type Password, useCreatePassword } from './use-passwords.ts'

/** Renders the form that creates a password, and afterwards the new password, once. */
export function CreatePassword({ passwords }: { passwords: readonly Password[] }) {
  const t = useTexts()
  const textOf = useFailureText()
  const [name, setName] = useState('')
  const [problem, setProblem] = useState<string>()
  const [created, setCreated] = useState<NewPassword>()
  const place = useRef<HTMLDivElement>(null)
  const shown = useRef<NewPassword>(undefined)
  const create = useCreatePassword((answer) => {
    setName('')
    setCreated(answer)
  })
  useLayoutEffect(() => {
    // What had the focus is gone, and keyboard users would lose their place.
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
    if (create.isPending) return
    if (name.trim() === '') return setProblem(t('p_name_empty'))
    setProblem(undefined)
    create.mutate(name.trim(), { onError: (error) => setProblem(textOf(error, 'p_create_failed')) })
  }

  function done(): void {
    // The answer would otherwise stay in memory as long as the page.
    create.reset()
    setCreated(undefined)
  }

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
            readOnly={create.isPending}
            maxLength={100}
            autoComplete="off"
            spellCheck={false}
            onChange={(text) => {
              setName(text)
              setProblem(undefined)
            }}
          />
          <Button type="submit" busy={create.isPending && t('p_creating')}>
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
