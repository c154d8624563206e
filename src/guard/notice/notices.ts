import type { ServerResponse } from 'node:http'
import { requireRequest } from '../../ground/option-checks.ts'
import type { EndedState } from '../host-types.ts'
import {
  nodeRequestOf,
  type RequestLike,
  type ResponseLike,
  responseOf,
  type Visit,
  visitOf,
} from '../request/visit.ts'
import { type KeepNotice, NOTICE_COOKIE, type NoticeParts, type SignedOutBody, type SignedOutNotice } from './notice.ts'

type Late = typeof import('./tell-notice.ts')

const KEEP_NOTHING: KeepNotice = () => {}

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
   * Prepares the notice for a response that removes the session cookie. Never rejects.
   *
   * @param losesCookie Checks, just before the headers are sent, whether the response removes the session cookie. If
   * omitted, call the returned function yourself.
   */
  async keep(
    request: RequestLike | Visit,
    ended: EndedState,
    response: ServerResponse,
    losesCookie?: () => boolean,
  ): Promise<KeepNotice> {
    if (!ended.cause) return KEEP_NOTHING
    try {
      const { keepNotice } = await this.load()
      return await keepNotice(this.#parts, nodeRequestOf(request), ended, response, losesCookie)
    } catch {
      // The response matters more than the notice.
      return KEEP_NOTHING
    }
  }

  /** Returns the notice of a request, for a script that asks for it. */
  async forScript(request: RequestLike, response: ServerResponse): Promise<SignedOutNotice | undefined> {
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
