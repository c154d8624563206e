import { parseCookie, stringifySetCookie } from 'cookie'
import type { SignedValues } from '../../auth/signed-value.ts'
import type { HostRequest, HostResponse } from '../../guard/host-types.ts'
import { changeCookies } from '../../guard/request/change-cookies.ts'
import { cookiesOf } from '../../guard/request/cookies-of.ts'
import type { Reader } from '../../routes/caller.ts'

const NAME = 'sessmgr_account'
const LIFE_MS = 60_000

/** The result of a form, for the page that follows it. */
export interface PageResult {
  /**
   * `ended`, `ended_others`: done. `gone`: it was already over. `uncertain`: the store failed in the meantime. `login`,
   * `url`, `password`: a proof is needed first. `wrong`: the password was wrong. `often`: there were too many attempts.
   * `proved`: the password was right.
   */
  readonly kind:
    | 'ended'
    | 'ended_others'
    | 'gone'
    | 'uncertain'
    | 'login'
    | 'url'
    | 'password'
    | 'wrong'
    | 'often'
    | 'proved'
  /** The device in question. Undefined for all other sessions. */
  readonly device?: string | undefined
  /** Token of the session, so that the page can ask again after a wrong password. */
  readonly token?: string | undefined
  /** How many sessions ended. */
  readonly count?: number | undefined
  /** When the user may try another password. */
  readonly retryAt?: number | undefined
}

/** Passes results to the next page in a signed cookie, which only one session can use, and only once. */
export class PageResults {
  readonly #signed: SignedValues

  constructor(signed: SignedValues) {
    this.#signed = signed
  }

  async leave(request: HostRequest, response: HostResponse, reader: Reader, result: PageResult): Promise<void> {
    setCookie(request, response, await this.#signed.sign(purposeOf(reader), result, LIFE_MS), LIFE_MS / 1000)
  }

  /**
   * Returns the result of the last form, and removes its cookie.
   *
   * @param isLate Whether to do so just before the headers are sent, because Fastify's own headers replace earlier ones.
   */
  async take(
    request: HostRequest,
    response: HostResponse,
    reader: Reader,
    isLate = false,
  ): Promise<PageResult | undefined> {
    const text = parseCookie(request.headers.cookie ?? '')[NAME]
    if (text === undefined) return undefined
    const forget = () => setCookie(request, response, '', 0)
    if (isLate) changeCookies(response, forget)
    else forget()
    return (await this.#signed.read(purposeOf(reader), text)) as PageResult | undefined
  }
}

const purposeOf = ({ token }: Reader): string => `account ${token}`

function setCookie(request: HostRequest, response: HostResponse, value: string, maxAge: number): void {
  const { secure, headers, session, socket } = request
  const isSecure =
    secure === true ||
    ('encrypted' in socket && socket.encrypted === true) ||
    session?.cookie?.secure === true ||
    /^https\b/.test(String(headers['x-forwarded-proto']))
  const attributes = { maxAge, path: '/', httpOnly: true, sameSite: 'lax', secure: isSecure } as const
  const cookie = stringifySetCookie({ name: NAME, value, ...attributes })
  response.setHeader('Set-Cookie', [...cookiesOf(response), cookie])
}
