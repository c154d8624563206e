import type { ServerResponse } from 'node:http'
import { requireRequest } from '../../ground/option-checks.ts'
import type { Token } from '../../sessions/session-record.ts'
import type { EndedState } from '../host-types.ts'
import {
  nodeRequestOf,
  type RequestLike,
  type ResponseLike,
  responseOf,
  type Visit,
  visitOf,
} from '../request/visit.ts'
import { NOTICE_COOKIE, type NoticeParts, type SignedOutBody, type SignedOutNotice } from './notice.ts'

type Late = typeof import('./tell-notice.ts')

/** Shows users why they were signed out, in every tab. Requests with a live session cost nothing extra. */
export class Notices {
  readonly #parts: NoticeParts
  #late: Promise<Late> | undefined

  constructor(parts: NoticeParts) {
    this.#parts = parts
  }

  /** Loads the code soon after startup, before an in-place update can remove its file. */
  load(): Promise<Late> {
    this.#late ??= import('./tell-notice.ts')
    this.#late.catch(() => {
      this.#late = undefined
    })
    return this.#late
  }

  /**
   * Returns how the session of a request ended, and keeps the reason for the next page in a cookie of sessmgr's own.
   * Does not look the reason up if this browser's pages have shown it for long enough. Never rejects.
   *
   * @param find Looks up how the session ended.
   * @param isSignedIn Checks, just before the headers are sent, whether the request has logged in.
   */
  async keep(
    request: RequestLike | Visit,
    token: Token,
    find: () => Promise<EndedState>,
    response: ServerResponse,
    isSignedIn?: () => boolean,
  ): Promise<EndedState> {
    try {
      const { keepNotice } = await this.load()
      return await keepNotice(this.#parts, nodeRequestOf(request), { token, find, isSignedIn }, response)
    } catch {
      // The response matters more than the notice.
      return { reason: 'missing' }
    }
  }

  /** Returns the notice of a request, for a script that asks for it. */
  async forScript(request: object, response: ServerResponse): Promise<SignedOutNotice | undefined> {
    const { takeNotice } = await this.load()
    return takeNotice(this.#parts, nodeRequestOf(request), response, true)
  }

  /** The limiter's public methods for notices. */
  readonly members = {
    notice: async (request: RequestLike, response: ResponseLike): Promise<SignedOutNotice | undefined> => {
      requireRequest(request, 'limiter.notice(request, response)')
      const target = responseOf(response, 'limiter.notice(request, response)')
      const message = nodeRequestOf(request)
      const mayHaveOne = message.headers.cookie?.includes(NOTICE_COOKIE) === true
      if (!visitOf(request)?.sessmgr?.ended && !mayHaveOne) return undefined
      const { takeNotice } = await this.load()
      return takeNotice(this.#parts, message, target)
    },
    signedOut: async (request: RequestLike): Promise<SignedOutBody | undefined> => {
      requireRequest(request, 'limiter.signedOut(request)')
      const { ended } = visitOf(request)?.sessmgr ?? {}
      if (!ended) return undefined
      const { signedOutBody } = await this.load()
      return signedOutBody(this.#parts, nodeRequestOf(request), ended)
    },
  }
}
