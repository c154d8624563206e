import { beforeEach, describe, expect, it } from 'vitest'
import { forThisFile } from '../../support/for-this-file.ts'
import { startRestHost } from '../../support/rest-host.ts'

const host = forThisFile(() => startRestHost())
const headers = forThisFile(() => host.scriptOf('admin'))
beforeEach(async () => {
  for (const { id } of host.users) await host.limiter.sessions.endAll(id)
})

const explain = (query: string, as: Record<string, string> = headers) =>
  host.call('GET', `/sessmgr/v1/explain?${query}`, { headers: as })

describe('GET /explain', () => {
  it('tells how the limit applies to a user, and changes nothing', async () => {
    const { token } = await host.signIn('alice', 'Laptop/1')
    const { maximum, logic } = await host.limiter.settings.get()
    const { status, json } = await explain('user=alice')
    expect([status, json]).toEqual([
      200,
      {
        user: { id: 2, login: 'alice', display_name: 'ALICE' },
        maximum,
        from: 'settings',
        bypassed: false,
        enforced: true,
        mode: logic,
        next_login: maximum > 1 ? 'admitted' : 'ends',
        sessions: [
          {
            token,
            device: null,
            created: expect.any(Number),
            last_seen: expect.any(Number),
            idle: false,
            would_end: maximum === 1,
          },
        ],
      },
    ])
    for (const time of [json.sessions[0].created, json.sessions[0].last_seen]) {
      expect(Math.abs(time - Date.now() / 1000)).toBeLessThan(600)
      expect(Number.isInteger(time)).toBe(true)
    }
    const refused = await explain('user=alice&mode=block&maximum=1&user_agent=Phone')
    expect(refused.json).toMatchObject({ mode: 'block', maximum: 1, from: 'options', next_login: 'refused' })
    expect((await explain('user=alice&mode=ask&maximum=1')).json).toMatchObject({ next_login: 'asked', need: 1 })
    await host.limiter.settings.update({ idle_release: 3600 })
    const waiting = await explain('user=alice&mode=block&maximum=1')
    await host.limiter.settings.reset('idle_release')
    const [seen, free] = [waiting.json.sessions[0].last_seen, waiting.json.free_at]
    expect([free - seen - 3600, free - seen - 3601]).toContain(0)
    expect(await host.limiter.sessions.count(2)).toBe(1)
  })

  it.each([
    ['user=alice&mode=bloc', 'mode'],
    ['user=alice&maximum=0', 'maximum'],
    ['user=alice&maximum=x', 'maximum'],
    ['user=alice&maximum=', 'maximum'],
    ['user=alice&maximum=1&maximum=2', 'maximum'],
    ['user=alice&user_agent=a&user_agent=b', 'user_agent'],
  ])('refuses %s', async (query, name) => {
    const { status, json } = await explain(query)
    expect([status, json.code, Object.keys(json.data.params)]).toEqual([400, 'rest_invalid_param', [name]])
  })

  it('needs a user that exists, and an administrator', async () => {
    expect((await explain('')).json.code).toBe('missing_identifier')
    expect((await explain('user=nobody')).status).toBe(404)
    expect((await explain('user=alice', await host.scriptOf('alice'))).status).toBe(403)
    expect((await explain('user=alice', {})).status).toBe(401)
  })
})
