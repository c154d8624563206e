import { Agent, request } from 'node:http'
import { median, quantile, spread, startExample, timings } from './support.ts'

const PER_SECOND = 500
const SECONDS = Number(process.env.BENCH_SECONDS ?? 10)
const GOAL_MS = 5
const VIEWS = 300
const PASSWORD = 'benchbenchbenchbenchbench'.slice(0, 24)
const READER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36'
/** Posts of the example, by their number of comments. */
const POSTS = [
  ['20', 1],
  ['1,000', 8],
] as const

/** Measures what the browser's script fetches, and what a page saves by not having its comments inline. */
export async function commentsBench(print: (line: string) => void): Promise<void> {
  const origin = await startExample({ SEED_APP_PASSWORD: PASSWORD })
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  for (const [comments, post] of POSTS) {
    const path = `/api/lazycomments/v1/comments?post_id=${post}`
    await paced(2, () => get(agent, origin + path))
    const answers = await paced(SECONDS, () => get(agent, origin + path))
    const times = answers.map(({ ms }) => ms)
    const p99 = quantile(times, 0.99)
    // A small file that costs next to nothing: what it takes is the machine's doing.
    const yardstick = (await paced(SECONDS / 2, () => get(agent, `${origin}/style.css`))).map(({ ms }) => ms)
    print(
      `GET /comments, ${comments} comments, warm, ${PER_SECOND} requests/s for ${SECONDS} s: p50 ` +
        `${median(times).toFixed(2)} ms, p99 ${p99.toFixed(2)} ms (goal p99 ≤ ${GOAL_MS} ms` +
        `${p99 > GOAL_MS ? ': MISSED' : ''}; ${(answers[0]?.bytes ?? 0).toLocaleString('en')} B each; a small file at ` +
        `the same pace: p50 ${median(yardstick).toFixed(2)} ms, p99 ${quantile(yardstick, 0.99).toFixed(2)} ms)`,
    )
  }
  agent.destroy()
  await pages(origin, print)
}

async function pages(origin: string, print: (line: string) => void): Promise<void> {
  await waitForSeed(origin)
  await settings(origin, { cache_enabled: false })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  for (const [comments, post] of [...POSTS, ['5 (block theme)', 6] as const]) {
    const lazily = () => get(agent, `${origin}/posts/${post}`)
    const inline = () => get(agent, `${origin}/posts/${post}?comments=all`)
    for (const view of [lazily, inline]) await timings(VIEWS, view)
    const ratios: number[] = []
    for (let round = 0; round < 5; round++) {
      // In turns, so that a slow moment of the machine hits both.
      ratios.push(median(await timings(VIEWS, lazily)) / median(await timings(VIEWS, inline)))
    }
    const ratio = median(ratios)
    print(
      `GET /posts/${post}, ${comments} comments, block cache off, p50 with placeholder ÷ p50 with comments inline: ` +
        `${ratio.toFixed(2)} (goal ≤ 1.00${ratio > 1 ? ': MISSED' : ''}; spread ±${spread(ratios).toFixed(0)} %)`,
    )
  }
  agent.destroy()
}

interface Answer {
  readonly ms: number
  readonly bytes: number
}

/** Sends requests at a steady pace, whether or not the ones before have been answered. */
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

/** The example stores its first password while it starts. */
async function waitForSeed(origin: string): Promise<void> {
  for (let tries = 0; (await fetch(settingsUrl(origin), { headers: { authorization } })).status !== 200; tries++) {
    if (tries === 5) throw new Error('The password of the example was not stored.')
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
