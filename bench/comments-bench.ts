import { Agent, request } from 'node:http'
import { startExample } from './processes.ts'
import { judged, type Report } from './report.ts'
import { median, quantile, timesInTurns, withQuartiles } from './statistics.ts'

const PER_SECOND = 500
const ALL_SECONDS = 10
const SLICE_SECONDS = 1
const VIEWS = 300
const PASSWORD = 'benchbenchbenchbenchbench'.slice(0, 24)
const READER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36'
/** Posts of the example. The cache keeps the parsed block of a block theme. */
const POSTS = [
  { name: '20 comments', post: 1 },
  { name: '1,000 comments', post: 8 },
  { name: '5 comments in a block theme', post: 6 },
] as const

/** Measures what the browser's script fetches, and what a page saves by not including its comments. */
export async function commentsBench(report: Report, effort: number): Promise<void> {
  const origin = await startExample({ SEED_APP_PASSWORD: PASSWORD })
  await waitForSeed(origin)
  const seconds = Math.max(2, Math.round(ALL_SECONDS * Math.min(1, effort)))
  const rows = [['', 'cold: cache off', 'cached', 'a small file', 'goal of p99', 'requests of each']]
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  for (const { name, post } of POSTS) {
    const path = `${origin}/api/lazycomments/v1/comments?post_id=${post}`
    const times = { cold: [] as number[], cached: [] as number[], file: [] as number[] }
    // A small file that costs next to nothing, so its time is that of the machine.
    const urls = { cold: path, cached: path, file: `${origin}/style.css` }
    for (let turn = -1; turn < seconds / SLICE_SECONDS; turn++) {
      for (const kind of ['cold', 'cached', 'file'] as const) {
        await settings(origin, { cache_enabled: kind !== 'cold' })
        await get(agent, urls[kind])
        const answers = await paced(SLICE_SECONDS, () => get(agent, urls[kind]))
        if (turn >= 0) times[kind].push(...answers.map(({ ms }) => ms))
      }
    }
    const worst = Math.max(quantile(times.cold, 0.99), quantile(times.cached, 0.99))
    const cells = Object.values(times).map(
      (each) => `${median(each).toFixed(2)}, ${quantile(each, 0.99).toFixed(2)} ms`,
    )
    rows.push([name, ...cells, judged(worst, { atMost: 5 }), times.cached.length.toLocaleString('en')])
  }
  agent.destroy()
  report.heading(`Lazy comments, \`GET /comments\` at ${PER_SECOND} requests per second: p50 and p99`)
  report.table(rows)
  await pages(origin, report)
}

async function pages(origin: string, report: Report): Promise<void> {
  await settings(origin, { cache_enabled: false })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const rows = [['the page, p50 with the placeholder ÷ with the comments inline', 'value', 'goal', 'views of each']]
  for (const { name, post } of POSTS) {
    const views = {
      lazily: () => get(agent, `${origin}/posts/${post}`),
      inline: () => get(agent, `${origin}/posts/${post}?comments=all`),
    }
    await timesInTurns(VIEWS, views)
    const rounds: number[] = []
    for (let round = 0; round < 5; round++) {
      const { lazily, inline } = await timesInTurns(VIEWS, views)
      rounds.push(median(lazily) / median(inline))
    }
    const ratio = median(rounds)
    rows.push([name, withQuartiles(ratio, rounds), judged(ratio, { atMost: 1 }), String(5 * VIEWS)])
  }
  agent.destroy()
  report.note('')
  report.table(rows)
}

interface Answer {
  readonly ms: number
  readonly bytes: number
}

/** Sends requests at a steady pace, whether or not earlier ones have been answered. */
async function paced(seconds: number, send: () => Promise<Answer>): Promise<Answer[]> {
  const sent: Promise<Answer>[] = []
  const begin = performance.now()
  while (sent.length < seconds * PER_SECOND) {
    const due = Math.min(seconds * PER_SECOND, Math.floor(((performance.now() - begin) / 1000) * PER_SECOND))
    while (sent.length < due) sent.push(send())
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  return Promise.all(sent)
}

function get(agent: Agent, url: string): Promise<Answer> {
  const start = performance.now()
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { agent, headers: { 'user-agent': READER } }, (response) => {
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      response.on('error', reject).on('end', () => {
        if (response.statusCode === 200) resolve({ ms: performance.now() - start, bytes })
        else reject(new Error(`${url} answered ${response.statusCode}`))
      })
    })
    outgoing.on('error', reject).end()
  })
}

const settingsUrl = (origin: string) => `${origin}/api/wp/v2/settings`
const authorization = `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}`

/** Waits for the example to store its first password, which it does while it starts. */
async function waitForSeed(origin: string): Promise<void> {
  for (let tries = 0; (await fetch(settingsUrl(origin), { headers: { authorization } })).status !== 200; tries++) {
    if (tries === 5) throw new Error('The example did not store its password.')
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

async function settings(origin: string, values: object): Promise<void> {
  const { status } = await fetch(settingsUrl(origin), {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ lazycomments_settings: values }),
  })
  if (status !== 200) throw new Error(`The settings could not be changed: ${status}.`)
}
