import type { Handler } from '../../door/host-types.ts'
import type { Asker } from '../../door/login.ts'
import { nodeRequestOf, type RequestLike, type ResponseLike, responseOf } from '../../door/request/visit.ts'
import { SessmgrError } from '../../ground/errors.ts'
import { invalidOption } from '../../ground/invalid-option.ts'
import { refuseRequest, requireRequest } from '../../ground/option-checks.ts'
import { lateHandler } from '../../routes/late-routes.ts'
import type { Account, AccountParts } from './account-page.ts'
import type { ChoiceParts } from './choice-logins.ts'
import type { Choice } from './choice-page.ts'
import {
  type AccountOptions,
  type ChoiceOptions,
  type ResolvedChoiceOptions,
  resolveAccountOptions,
  resolveChoiceOptions,
  type StepUpOptions,
} from './page-options.ts'
import type { AccountView } from './page-views.ts'

/** The public methods of the account page. */
interface AccountMember {
  /** Returns the middleware of the page. @throws SessmgrError `invalid_option` for an invalid option. */
  account(options?: AccountOptions): Handler
  /** Returns what the page shows, or undefined if the user is not signed in. */
  accountView(request: RequestLike, response?: ResponseLike): Promise<AccountView | undefined>
  /** Remembers for ten minutes that the user of a request has proved their identity. */
  reauthenticated(request: RequestLike): Promise<void>
}

export interface AccountFeatureParts extends Omit<AccountParts, 'options'> {
  /** Loads the function that creates the page. */
  load(parts: AccountParts): Promise<Account>
}

/** The account page, and what other parts of the service need. */
export interface AccountFeature {
  readonly member: AccountMember
  /** The page with the options of the last `account()`, for the REST routes. */
  current(): Promise<Account>
  /** Whether the application has called `account()`. Only then do its REST routes work. */
  isMounted(): boolean
}

/** Creates the account page. `accountView()` and the REST routes use the options of the last call to `account()`. */
export function createAccountFeature(parts: AccountFeatureParts): AccountFeature {
  let options = resolveAccountOptions()
  let isMounted = false
  let loading: Promise<Account> | undefined
  const load = () => {
    loading ??= parts.load({ ...parts, options })
    return loading
  }

  return {
    current: load,
    isMounted: () => isMounted,
    member: {
      account(given) {
        refuseRequest(given, 'limiter.account()')
        const resolved = resolveAccountOptions(given)
        if (isMounted) requireSameStepUp(options.stepUp, resolved.stepUp)
        isMounted = true
        options = resolved
        loading = undefined
        return lateHandler(load().then(({ handler }) => handler))
      },
      async accountView(request, response) {
        requireRequest(request, 'limiter.accountView(request)')
        if (options.path === undefined) {
          throw invalidOption(
            'accountView() needs the path of the page: limiter.account({ path: "/account/sessions" })',
          )
        }
        const answered = response && responseOf(response, 'limiter.accountView(request, response)')
        return (await load()).view(nodeRequestOf(request), answered)
      },
      async reauthenticated(request) {
        requireRequest(request, 'limiter.reauthenticated(request)')
        const reader = parts.readerOf(request)
        if (!reader) throw new SessmgrError('session_ended', 'The request has no live session. Sign in first.')
        await (await load()).stepUp.prove(reader)
      },
    },
  }
}

/**
 * Checks that two account pages have the same `stepUp`. The REST routes use the options of the last page, so a page
 * without `stepUp` would disable the `stepUp` of another page.
 */
function requireSameStepUp(one: StepUpOptions = {}, other: StepUpOptions = {}): void {
  const isSame = one.freshFor === other.freshFor && one.verify === other.verify && one.url === other.url
  const [attempts, others] = [one.attempts, other.attempts]
  if (isSame && attempts?.count === others?.count && attempts?.minutes === others?.minutes) return
  throw invalidOption('All account() calls need the same "stepUp", because the REST routes use it too')
}

/** The public method of the choice page. */
interface ChoiceMember {
  /** Returns the middleware of the page. @throws SessmgrError `invalid_option` for an invalid option. */
  choice(options?: ChoiceOptions): Handler
}

export interface ChoiceFeatureParts extends Omit<ChoiceParts, 'options'> {
  /** Loads the function that creates the page. */
  load(parts: ChoiceParts): Promise<Choice>
}

/** The choice page, and what other parts of the service need. */
interface ChoiceFeature {
  readonly member: ChoiceMember
  /** Returns the function that sends users to the page of the last `choice()` call, or undefined before the first. */
  asker(): Asker | undefined
}

/** Creates the choice page. */
export function createChoiceFeature(parts: ChoiceFeatureParts): ChoiceFeature {
  let asker: Asker | undefined

  return {
    asker: () => asker,
    member: {
      choice(given) {
        refuseRequest(given, 'limiter.choice()')
        const options = resolveChoiceOptions(given)
        requireParts(parts, options)
        const loading = parts.load({ ...parts, options })
        asker = { ask: async (login) => (await loading).ask(login), hasComplete: options.complete !== undefined }
        return lateHandler(loading.then(({ handler }) => handler))
      },
    },
  }
}

function requireParts({ host }: ChoiceFeatureParts, { complete }: ResolvedChoiceOptions): void {
  if (!host && !complete) throw invalidOption('choice() needs sessmgr({ host }), or "complete"')
}
