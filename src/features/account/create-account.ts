import { SessmgrError } from '../../ground/errors.ts'
import type { Handler, HostRequest, HostResponse } from '../../guard/host-types.ts'
import { pageHandler } from '../../pages/page-handler.ts'
import { loginAddress, mountPath } from '../../routes/page-addresses.ts'
import { RestError } from '../../routes/rest-error.ts'
import { redirect, sendPage } from '../../routes/send-page.ts'
import { AccountForms } from './account-forms.ts'
import type { AccountParts } from './account-parts.ts'
import type { AccountView } from './account-view.ts'
import { OwnSessions } from './own-sessions.ts'
import { AccountPages, type PageCall, pageOf } from './pages/account-pages.ts'
import { PageResults } from './pages/page-result.ts'
import { StepUp } from './step-up.ts'

/** The account page, and what it shares with the REST routes. */
export interface Account {
  readonly handler: Handler
  readonly own: OwnSessions
  readonly stepUp: StepUp
  readonly showsIp: boolean
  view(request: HostRequest, response: HostResponse | undefined): Promise<AccountView | undefined>
}

/** Creates the account page. */
export function createAccount(parts: AccountParts): Account {
  const { options, readerOf } = parts
  const own = new OwnSessions(parts)
  const stepUp = new StepUp(parts, options.stepUp)
  const pages = new AccountPages(parts, own)
  const forms = new AccountForms(parts, own, stepUp, pages)
  const results = new PageResults(parts.signed)

  async function show(request: HostRequest, response: HostResponse): Promise<void> {
    parts.notePage(request)
    const reader = readerOf(request)
    if (!reader) return toLogin(request, response)
    const result = await results.take(request, response, reader)
    const call = { request, reader, base: baseOf(request), result }
    const proofUrl = result?.kind === 'login' ? options.loginUrl : result?.kind === 'url' ? stepUp.url : undefined
    if (result && proofUrl !== undefined) return send(call, response, 200, await pages.again(call, result, proofUrl))
    const question = /\?confirm\b/.test(request.url ?? '') ? await pages.confirm(call) : undefined
    await send(call, response, 200, question ?? (await pages.devices(call)))
  }

  async function act(request: HostRequest, response: HostResponse): Promise<void> {
    const reader = readerOf(request)
    if (!reader) return toLogin(request, response)
    const result = await forms.handle(request, reader)
    if (!result) return toLogin(request, response)
    await results.leave(request, response, reader, result)
    const page = pageOf(request)
    redirect(request, response, page > 1 ? `${baseOf(request)}?page=${page}` : baseOf(request))
  }

  async function fail(request: HostRequest, response: HostResponse, error: unknown): Promise<void> {
    const isAway = error instanceof SessmgrError && error.status === 503
    const status = isAway ? 503 : error instanceof RestError ? error.status : undefined
    if (status === undefined || response.headersSent) throw error
    if (isAway) response.setHeader('Retry-After', error.headers['Retry-After'] ?? '2')
    const view = pages.failure(request, baseOf(request), isAway ? 'away' : 'old')
    await send({ request }, response, status, view)
  }

  async function send(
    { request }: Pick<PageCall, 'request'>,
    response: HostResponse,
    status: number,
    view: AccountView,
  ) {
    const document = await pages.document(view)
    const isOwnPolicy = options.render && response.hasHeader('Content-Security-Policy')
    if (!isOwnPolicy) response.setHeader('Content-Security-Policy', pages.policy())
    sendPage(request, response, status, document)
  }

  function toLogin(request: HostRequest, response: HostResponse): void {
    redirect(
      request,
      response,
      loginAddress(options.loginUrl, baseOf(request)),
      pages.textsFor(request).say('account_sign_in'),
    )
  }

  /** Returns the path of the page, as requested by the browser. */
  const baseOf = (request: HostRequest) => options.path ?? mountPath(request)

  return {
    handler: pageHandler({ show, act, fail }),
    own,
    stepUp,
    showsIp: options.show.ip === true,
    async view(request, response) {
      const reader = readerOf(request)
      if (!reader) return undefined
      const result = response && (await results.take(request, response, reader, true))
      return pages.devices({ request, reader, base: baseOf(request), result })
    },
  }
}
