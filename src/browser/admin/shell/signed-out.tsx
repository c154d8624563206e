import { useEffect, useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Notice } from '../parts/feedback/notice.tsx'
import { Icon } from '../parts/icon.tsx'
import { useSignedIn } from '../rest/use-signed-in.ts'
import { queries, rest, vars } from '../screen.ts'
import { type TextKey, useTexts } from '../texts/use-texts.ts'

/** Shows that the user was signed out, and resumes where they left off once they are back. */
export function SignedOut() {
  const t = useTexts()
  const state = useSignedIn()
  const [isChecking, setChecking] = useState(false)
  const [problem, setProblem] = useState<TextKey>()

  useEffect(() => {
    if (state === 'yes') return
    setProblem(undefined)
    // Checks without a click when the user returns from the login tab.
    const look = () => void comeBack()
    window.addEventListener('focus', look)
    return () => window.removeEventListener('focus', look)
  }, [state])

  if (state === 'yes') return null
  async function look(): Promise<void> {
    setChecking(true)
    setProblem(await comeBack())
    setChecking(false)
  }
  return (
    <Notice
      tone="warning"
      title={t(state === 'no' ? 'signed_out' : 'forbidden')}
      actions={
        <>
          {/* Signed-out users who open the URL of the screen are redirected to the login page. */}
          <a className="button primary" href={vars.adminUrl} target="_blank" rel="noopener">
            <span>
              {t('sign_in')}
              <span className="unseen"> {t('new_tab')}</span>
            </span>
            <Icon name="external" />
          </a>
          <Button busy={isChecking && t('loading')} onClick={() => void look()}>
            {t('signed_in_check')}
          </Button>
        </>
      }
    >
      {t(state === 'no' ? 'signed_out_help' : 'forbidden_help')}
      {problem && <p className="problem">{t(problem)}</p>}
    </Notice>
  )
}

/** Resumes where the user left off, or returns the text of the problem. */
async function comeBack(): Promise<TextKey | undefined> {
  const state = await rest.check().catch(() => undefined)
  if (state === 'yes') await queries.invalidateQueries()
  else return state === undefined ? 'no_answer' : 'still_signed_out'
}
