import { useEffect, useRef, useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Notice } from '../parts/feedback.tsx'
import { NewTabLink } from '../parts/links.tsx'
import type { SignedIn } from '../rest/rest-client.ts'
import { useSignedIn } from '../rest/use-rest.ts'
import { draft, queries, rest, toasts, vars } from '../screen.ts'
import { type TextKey, useTexts } from '../texts/use-texts.ts'

/** Notifies users that they were signed out, and lets them resume where they left off after signing in again. */
export function SignedOut() {
  const t = useTexts()
  const state = useSignedIn()
  const [isChecking, setChecking] = useState(false)
  const [problem, setProblem] = useState<TextKey>()

  const [cause, setCause] = useState('')
  const notice = useRef<HTMLDivElement>(null)
  const wasAway = useRef(false)

  useEffect(() => {
    if (state === 'yes') return
    // A control that just became inert loses the focus only at the next frame. The notice then takes it, so that
    // keyboard users keep their place.
    let frame = requestAnimationFrame(() => {
      frame = requestAnimationFrame(() => {
        if (document.activeElement === document.body) notice.current?.focus()
      })
    })
    return () => cancelAnimationFrame(frame)
  }, [state])
  useEffect(() => {
    if (state === 'yes' && wasAway.current && draft.isDirty()) toasts.show(t('welcome_back'))
    wasAway.current = state !== 'yes'
  }, [state, t])
  useEffect(() => {
    setCause('')
    if (state === 'no') void rest.notice().then(setCause)
  }, [state])
  useEffect(() => {
    if (state === 'yes') return
    setProblem(undefined)
    // Check without a click when the user returns from the login tab.
    const look = () => void comeBack(rest.check())
    window.addEventListener('focus', look)
    return () => window.removeEventListener('focus', look)
  }, [state])

  if (state === 'yes') return null
  async function look(checking: Promise<SignedIn>): Promise<void> {
    setChecking(true)
    setProblem(await comeBack(checking))
    setChecking(false)
  }
  const [title, help] = WORDS[state]
  const names = { name: rest.newest().name, own: rest.user().name }
  return (
    <div className="away">
      <Notice
        ref={notice}
        tone="warning"
        title={t(title, names)}
        actions={
          <>
            {/* Signed-out users who open this page are redirected to the login page, and return to it afterwards. */}
            <NewTabLink className="button primary" href={`${vars.adminUrl}signed-in`}>
              {t('sign_in')}
            </NewTabLink>
            {/* Another button for another user, so that a second press on the first one does not choose them. */}
            <Button
              key={state}
              busy={isChecking && t('loading')}
              onClick={() => void look(state === 'other' ? rest.goOn() : rest.check())}
            >
              {t(state === 'other' ? 'go_on_as' : 'signed_in_check', names)}
            </Button>
          </>
        }
      >
        {cause && `${cause} `}
        {t(help, names)}
        {problem && <p className="problem">{t(problem)}</p>}
      </Notice>
    </div>
  )
}

const WORDS = {
  no: ['signed_out', 'signed_out_help'],
  forbidden: ['forbidden', 'forbidden_help'],
  other: ['other_user', 'other_user_help'],
} as const satisfies Record<Exclude<SignedIn, 'yes'>, readonly TextKey[]>

/** Refreshes all data if the user is signed in again. Otherwise, returns the key of the text that explains why not. */
async function comeBack(checking: Promise<SignedIn>): Promise<TextKey | undefined> {
  const state = await checking.catch(() => undefined)
  if (state === 'yes') await queries.expire()
  else if (state !== 'other') return state === undefined ? 'no_answer' : 'still_signed_out'
}
