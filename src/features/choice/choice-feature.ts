import { invalidOption } from '../../ground/invalid-option.ts'
import { refuseRequest } from '../../ground/request-checks.ts'
import type { Handler } from '../../guard/host-types.ts'
import type { Asker } from '../../guard/limit-login.ts'
import { lateHandler } from '../../routes/late-routes.ts'
import type { ChoiceParts } from './choice-logins.ts'
import type { Choice } from './create-choice.ts'
import { type ChoiceOptions, type ResolvedChoiceOptions, resolveChoiceOptions } from './resolve-choice-options.ts'

/** The public method of the choice page. */
export interface ChoiceMember {
  /** Returns the middleware of the page. @throws SessmgrError `invalid_option` for an invalid option. */
  choice(options?: ChoiceOptions): Handler
}

export interface ChoiceFeatureParts extends Omit<ChoiceParts, 'options'> {
  /** Loads the function that creates the page. */
  load(parts: ChoiceParts): Promise<Choice>
}

/** The choice page, and what other parts of the service need. */
export interface ChoiceFeature {
  readonly member: ChoiceMember
  /** Returns what sends users to the page of the last `choice()`, or undefined before the first `choice()`. */
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

function requireParts({ host, store }: ChoiceFeatureParts, { complete }: ResolvedChoiceOptions): void {
  if (!host && !complete) throw invalidOption('choice() needs the option "host" of sessmgr(), or "complete"')
  if (typeof store.transients.take === 'function') return
  throw invalidOption('choice() needs a store with "transients.take", which reads and deletes a string in one step')
}
