// A Worker with one page per way to create the limiter, for test/campaign/workers.campaign.ts.
import { memoryStore, sessmgr } from 'sessmgr'
import { documentStore } from 'sessmgr/document'
import { fetchCalls } from 'sessmgr/fetch'
import { Rows, rowsDriver } from '../../examples/workers/rows.mjs'

export { Rows }

const HOUR = 60 * 60 * 1000

function createCalls(store, rows) {
  const settings = { maximum: 2, logic: 'logout_oldest' }
  const limiter = sessmgr({ store, settings, secret: 'x'.repeat(40) })
  return fetchCalls(limiter, {
    exists: async (id) => Boolean(await rows.readSession(id)),
    destroy: (id) => rows.deleteSession(id),
  })
}

/** Logs a user in, or says whether the session of a request is live. */
async function serve(request, calls, rows) {
  const { searchParams } = new URL(request.url)
  const userId = searchParams.get('user')
  try {
    if (request.method === 'POST') {
      const sessionId = crypto.randomUUID()
      await calls.login(request, { userId }, async () => {
        await rows.writeSession(sessionId, { userId }, HOUR)
        return { sessionId, ttlMs: HOUR }
      })
      return new Response(sessionId)
    }
    const sessionId = searchParams.get('session')
    if (!(await rows.readSession(sessionId))) return new Response('ended')
    const state = await calls.check(request, { userId, sessionId })
    return new Response(state.session ? 'live' : 'ended')
  } catch (error) {
    return new Response(error.message, { status: error.status ?? 500 })
  }
}

/** A whole application inside a Durable Object. */
export class Site extends Rows {
  #calls = createCalls(documentStore(rowsDriver(this)), this)

  fetch(request) {
    return serve(request, this.#calls, this)
  }
}

const memory = memoryStore()
let forAll
let store

const WAYS = {
  '/request': (rows) => createCalls(documentStore(rowsDriver(rows)), rows),
  '/memory': (rows) => createCalls(memory, rows),
  '/module'(rows) {
    forAll ??= createCalls(documentStore(rowsDriver(rows)), rows)
    return forAll
  },
  '/store'(rows) {
    store ??= documentStore(rowsDriver(rows))
    return createCalls(store, rows)
  },
  '/hanging'(rows) {
    const driver = { ...rowsDriver(rows), get: () => new Promise((resolve) => setTimeout(resolve, 60_000)) }
    return createCalls(documentStore(driver, { deadlineMs: 100 }), rows)
  },
}

export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url)
    if (pathname === '/object') return env.SITE.get(env.SITE.idFromName('all')).fetch(request)
    const rows = env.ROWS.get(env.ROWS.idFromName('all'))
    return serve(request, WAYS[pathname](rows), rows)
  },
}
