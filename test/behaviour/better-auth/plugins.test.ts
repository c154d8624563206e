import { bearer, deviceAuthorization, organization } from 'better-auth/plugins'
import { describe, expect, it } from 'vitest'
import { type LabOptions, startAuth } from '../../support/better-auth-lab.ts'

const BLOCK = { settings: { maximum: 2, logic: 'block' } }

describe('device authorization', () => {
  const GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

  /** A television asks for a code, and ada approves it in her browser. */
  async function start(options: LabOptions = {}) {
    const plugins = [deviceAuthorization({ interval: '1s', verificationUri: '/device' }), bearer()]
    const lab = startAuth({ plugins, ...options })
    const browser = lab.client()
    await browser.signUp()
    const { userId } = await browser.session()
    const television = lab.client(true)
    const request = async () => {
      const { json } = await television.send('/device/code', { client_id: 'television' })
      await browser.send(`/device?user_code=${json.user_code}`)
      expect((await browser.send('/device/approve', { userCode: json.user_code })).status).toBe(200)
      return json.device_code as string
    }
    const signIn = async (device_code: string) => {
      const answer = await television.send('/device/token', { grant_type: GRANT, device_code, client_id: 'television' })
      television.token = answer.json?.access_token ?? null
      return answer
    }
    return { ...lab, userId, browser, television, request, signIn }
  }

  it.each(['database', 'secondary', 'both'] as const)(
    'a token counts with sessions in %s, and ends with its session',
    async (storage) => {
      const { limiter, userId, browser, television, request, signIn } = await start({ storage })
      expect((await signIn(await request())).status).toBe(200)
      expect([await television.isLive(), await limiter.sessions.count(userId)]).toEqual([true, 2])
      await limiter.sessions.endOthers(userId, (await limiter.sessions.list(userId)).map(({ token }) => token)[0] ?? '')
      expect([await television.isLive(), await browser.isLive()].filter(Boolean)).toHaveLength(1)
    },
  )

  it('a refused token is in no response, and leaves no session', async () => {
    const { limiter, userId, rows, client, request, signIn } = await start({ sessmgr: BLOCK })
    const code = await request()
    await client().signIn()
    const refused = await signIn(code)
    expect([refused.status, refused.json.code]).toEqual([403, 'LOGIN_LIMIT_REACHED'])
    expect([rows().length, await limiter.sessions.count(userId), refused.json.access_token]).toEqual([2, 2, undefined])
  })

  it('of eight codes redeemed at once, no more than the limit live', async () => {
    const { limiter, userId, rows, request, client } = await start()
    const codes: string[] = []
    for (let index = 0; index < 8; index++) codes.push(await request())
    const tokens = await Promise.all(
      codes.map(async (device_code) => {
        const one = client(true)
        const body = { grant_type: GRANT, device_code, client_id: 'television' }
        one.token = (await one.send('/device/token', body)).json?.access_token ?? null
        return one
      }),
    )
    const live = await Promise.all(tokens.map((one) => one.isLive()))
    // The other live session is that of the browser that approved the codes, which has been used.
    expect([live.filter(Boolean).length, rows().length, await limiter.sessions.count(userId)]).toEqual([1, 2, 2])
  })
})

describe('organizations', () => {
  it('choosing one keeps the session, and another session of the user', async () => {
    const lab = startAuth({ cache: 'jwe', plugins: [organization()] })
    for (const model of ['organization', 'member', 'invitation']) lab.db[model] ??= []
    const [one, two] = [lab.client(), lab.client()]
    await one.signUp()
    await two.signIn()
    const made = await one.send('/organization/create', { name: 'Acme', slug: 'acme' })
    expect(made.status).toBe(200)
    for (const client of [one, two]) {
      expect((await client.send('/organization/set-active', { organizationId: made.json.id })).status).toBe(200)
    }
    expect([(await one.session())?.activeOrganizationId, await two.isLive()]).toEqual([made.json.id, true])
    const { userId } = await one.session()
    await lab.limiter.sessions.endAll(userId)
    expect((await one.copy().send('/organization/set-active', { organizationId: null })).status).toBe(401)
    expect([await one.isLive(), await two.isLive()]).toEqual([false, false])
  })
})
