import { type TextKey, useTexts } from '../texts/use-texts.ts'
import { RestFailure } from './rest-failure.ts'

/** Gives a function that says what went wrong: in the server's words where it has some, else in those of the fallback. */
export function useFailureText(): (error: unknown, fallback: TextKey) => string {
  const t = useTexts()
  return (error, fallback) => {
    if (!(error instanceof RestFailure)) return t(fallback)
    if (error.status === 0) return t('no_answer')
    if (error.status === 401 || error.code === 'rest_cookie_invalid_nonce') return t('signed_out_short')
    const details = Object.entries(error.params).map(([name, problem]) => `${name}: ${problem}`)
    return [error.message || t(fallback), ...details].join(' ')
  }
}
