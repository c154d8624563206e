import { choiceData } from '../../ground/answer-body.ts'
import { RETRY_SOON, type SessmgrError, STATUS } from '../../ground/errors.ts'
import type { GuardedRequest } from '../../guard/host-types.ts'
import type { Ask } from '../../guard/limit-login.ts'
import { secondsUntil } from '../../pages/guesses.ts'
import { counted } from '../../pages/markup.ts'
import { RestAnswer, type RestError } from '../../routes/answer.ts'
import { restSentence } from '../../texts/rest-sentence.ts'
import type { ReaderTexts, Say } from '../../texts/texts-for.ts'
import type { ChoiceOutcome } from './choice-logins.ts'

/** What the answers to a script need. */
export interface AnswerParts {
  /** Describes what the user has to choose. */
  readonly ask: Ask
  readonly request: GuardedRequest
  readonly say: Say
}

/** Returns the JSON response to a script that has sent a choice, or asks what to choose. */
export async function answerOutcome(outcome: ChoiceOutcome, parts: AnswerParts): Promise<RestAnswer> {
  const { say } = parts
  switch (outcome.kind) {
    case 'open':
      return answerOpen(outcome, parts)
    case 'signed_in':
      return RestAnswer.json({ signed_in: true, ended: outcome.ended })
    case 'cancelled':
      return RestAnswer.json({ signed_in: false, ended: 0 })
    case 'often':
      return tooMany(say('choice_often'), outcome.until)
    case 'blocked':
      return refusal(STATUS.login_limit_reached, 'login_limit_reached', say('login_blocked'))
    case 'gone':
      return refusal(401, 'rest_forbidden', say('rest_sign_in'))
    case 'old':
      return refusal(403, 'rest_cross_origin', say('rest_cross_origin'))
    case 'spent':
      return refusal(STATUS.store_unavailable, 'store_unavailable', say('choice_spent'), { headers: RETRY_SOON })
    default:
      return refusal(STATUS.login_choice_expired, 'login_choice_expired', say('choice_expired'))
  }
}

async function answerOpen(
  { problem, choice, login, isRace, retryAt }: ChoiceOutcome & { kind: 'open' },
  { ask, request, say }: AnswerParts,
): Promise<RestAnswer> {
  if (problem === 'unproved') return refusal(403, 'wrong_password', say('choice_wrong'))
  if (problem === 'guessed') return tooMany(say('account_often'), retryAt)
  const conflict = STATUS.login_conflict
  const expiresIn = Math.max(0, Math.ceil((login.expiresAt - Date.now()) / 1000))
  if (!choice && problem === undefined) {
    const data = { need: 0, expires_in: expiresIn, sessions: [] }
    return refusal(STATUS.login_choice_required, 'login_choice_required', say('choice_room'), { data })
  }
  if (!choice) return refusal(conflict, 'login_conflict', say('rest_login_conflict'), { headers: RETRY_SOON })
  const error = await ask({ request, userId: login.userId, choice, isPending: true })
  const data = error.choice && choiceData({ ...error.choice, expiresIn })
  // Nothing was chosen yet.
  if (problem === undefined || isRace) return refusal(error.status, error.code, error.message, { data })
  const { need } = choice
  return refusal(STATUS.invalid_choice, 'invalid_choice', say(counted('choice_few', need), { need }), { data })
}

/**
 * Returns the JSON response to a request that could not be read, or whose login could not begin because the store
 * failed.
 */
export function answerFailure({ status, code, message, headers }: RestError | SessmgrError, texts: ReaderTexts) {
  return refusal(status, code, restSentence(message, texts, code), { headers })
}

function tooMany(message: string, retryAt: number | undefined): RestAnswer {
  return refusal(429, 'too_many_attempts', message, { headers: { 'Retry-After': secondsUntil(retryAt) } })
}

function refusal(
  status: number,
  code: string,
  message: string,
  { data = {}, headers = {} }: { data?: object | undefined; headers?: Readonly<Record<string, string>> } = {},
): RestAnswer {
  return RestAnswer.json({ code, message, data: { status, ...data } }, { status, headers })
}
