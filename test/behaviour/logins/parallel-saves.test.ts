import type { Request } from 'express'
import { expect, it } from 'vitest'
import { startExpressHost } from '../../support/express-host.ts'

type Own = { userId?: number }

it.each(['allow', 'logout_oldest', 'block'])(
  'rule 7: a login whose session is saved by hand and by the response at once is one login in mode %s',
  async (logic) => {
    const host = await startExpressHost({
      settings: { maximum: 1, logic },
      sessmgr: { sessionUser: (data: Own) => data.userId } as object,
      further: ({ app }) =>
        app.post('/own-form', (req: Request, res) => {
          req.session.regenerate(() => {
            Object.assign(req.session, { userId: 2 } satisfies Own)
            req.session.save()
            res.send('in')
          })
        }),
    })
    const browser = host.browser()
    expect((await browser.post('/own-form')).status).toBe(200)
    expect(await host.limiter.sessions.count(2)).toBe(1)
    const [session] = await host.limiter.sessions.list(2)
    expect(host.store.read(browser.sessionId())).toMatchObject({ userId: 2, sessmgr: { token: session?.token } })
    expect([host.errors, host.actions]).toEqual([[], []])
  },
)
