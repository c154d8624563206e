import type { Handler, HostRequest, HostResponse } from '../guard/host-types.ts'
import { answerSafely } from '../routes/rest-answer.ts'

type Answer = (request: HostRequest, response: HostResponse) => Promise<void>

/** What a page does with a request. */
export interface PageActions {
  /** Shows the page. */
  readonly show: Answer
  /** Does what a form asks for. */
  readonly act: Answer
  /** Answers a failure. If it throws, the application's error handler receives the error. */
  fail(request: HostRequest, response: HostResponse, error: unknown): Promise<void>
}

/** Returns the middleware of a page, which passes on requests for any path under its own. */
export function pageHandler({ show, act, fail }: PageActions): Handler {
  return (request, response, next) => {
    const { method, url = '/' } = request
    const isPage = (url.split('?', 1)[0] ?? '/').replace('/', '') === ''
    const isRead = method === 'GET' || method === 'HEAD'
    if (!isPage || !(isRead || method === 'POST')) return next()
    const answering = isRead ? show(request, response) : act(request, response)
    answerSafely(
      response,
      answering.catch((error) => fail(request, response, error)),
      next,
    )
  }
}
