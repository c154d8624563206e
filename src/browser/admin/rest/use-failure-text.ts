import { rest } from '../screen.ts'
import { type TextKey, useTexts } from '../texts/use-texts.ts'
import { RestFailure } from './rest-failure.ts'

/**
 * Returns a function that describes a failure with the server's message, or else the fallback. If the response is not
 * from sessmgr, it names the URL, because the routes are probably mounted elsewhere.
 */
export function useFailureText(): (error: unknown, fallback: TextKey) => string {
  const t = useTexts()
  return (error, fallback) => {
    if (!(error instanceof RestFailure)) return t(fallback)
    const { status, code, call, params, message } = error
    if (status === 0) return t('no_answer')
    if (code === 'rest_cookie_invalid_nonce' || (status === 401 && rest.signedIn() === 'no'))
      return t('signed_out_short')
    if (code === undefined) return `${t(fallback)} ${t(keyOf(status), { call, status })}`
    const details = Object.entries(params).map(([name, problem]) => `${name}: ${problem}`)
    return [message || t(fallback), ...details].join(' ')
  }
}

/** Selects the text for a response that is not from sessmgr. */
function keyOf(status: number): TextKey {
  if (status >= 500) return 'bad_answer'
  return status < 300 ? 'no_json' : 'no_routes'
}
