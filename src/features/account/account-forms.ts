import { SessmgrError } from '../../ground/errors.ts'
import type { HostRequest } from '../../guard/host-types.ts'
import { pageDevice } from '../../pages/page-device.ts'
import { formBody } from '../../routes/body/form-body.ts'
import { type Reader, refuseCrossOrigin } from '../../routes/caller.ts'
import { RestError } from '../../routes/rest-error.ts'
import type { AccountParts } from './account-parts.ts'
import type { OwnSessions } from './own-sessions.ts'
import { type AccountPages, FORM_ACTION } from './pages/account-pages.ts'
import type { PageResult } from './pages/page-result.ts'
import type { StepUp } from './step-up.ts'

type Form = Readonly<Record<string, string>>

/** What a form requests: to end one session, given by its token and the name of its device, or all others. */
interface Wish {
  readonly token: string | undefined
  readonly device: string | undefined
}

/**
 * Carries out what the forms of the pages request. If users must first prove who they are, asks for that;
 * they must then submit the form again.
 */
export class AccountForms {
  readonly #parts: AccountParts
  readonly #own: OwnSessions
  readonly #stepUp: StepUp
  readonly #pages: AccountPages

  constructor(parts: AccountParts, own: OwnSessions, stepUp: StepUp, pages: AccountPages) {
    this.#parts = parts
    this.#own = own
    this.#stepUp = stepUp
    this.#pages = pages
  }

  /**
   * Handles a form. Resolves to undefined if the session of the request is over.
   *
   * @throws RestError if the form is not from a page of this session.
   */
  async handle(request: HostRequest, reader: Reader): Promise<PageResult | undefined> {
    refuseCrossOrigin(request)
    const form = await formBody(request)
    const isFromPage = await this.#parts.nonces.verify(form.proof ?? '', { ...reader, action: FORM_ACTION })
    const isPassword = form.password !== undefined && this.#stepUp.kind === 'password'
    const isWhole = isPassword || form.end !== undefined || form.others !== undefined
    if (!isFromPage || !isWhole) {
      throw new RestError(403, 'rest_cookie_invalid_nonce', 'The nonce is invalid or has expired. Reload the page.')
    }
    // Reading the form can take long, and the session may have ended in the meantime.
    if (!(await this.#parts.isLive(reader))) return undefined
    const token = (isPassword ? form.wanted : form.end) || undefined
    const device = token === undefined ? undefined : await this.#nameOf(request, reader, token)
    if (token !== undefined && device === undefined) return { kind: 'gone' }
    if (isPassword) return this.#tryPassword(request, reader, form, { token, device })
    if (!(await this.#stepUp.isProved(request, reader))) return { kind: this.#stepUp.kind as 'login', token, device }
    return this.#end(reader, { token, device })
  }

  async #tryPassword(request: HostRequest, reader: Reader, form: Form, wish: Wish): Promise<PageResult> {
    const result = await this.#stepUp.tryPassword(request, reader, form.password ?? '')
    return result.kind === 'right' ? { kind: 'proved', device: wish.device } : { ...wish, ...result }
  }

  async #end(reader: Reader, { token, device }: Wish): Promise<PageResult | undefined> {
    try {
      if (token !== undefined)
        return (await this.#own.end(reader, token)) ? { kind: 'ended', device } : { kind: 'gone' }
      const count = await this.#own.endOthers(reader)
      return count === undefined ? undefined : { kind: 'ended_others', count }
    } catch (error) {
      if (error instanceof SessmgrError && error.code === 'store_unavailable') return { kind: 'uncertain', device }
      throw error
    }
  }

  /** Returns the device name of one of the user's other sessions, or undefined for any other token. */
  async #nameOf(request: HostRequest, reader: Reader, token: string): Promise<string | undefined> {
    const { sessions } = await this.#own.list(reader)
    const record = sessions.find((one) => one.token === token && token !== reader.token)
    return record && (await pageDevice(record, this.#pages.textsFor(request).say)).device
  }
}
