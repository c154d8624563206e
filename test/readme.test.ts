import { readFileSync } from 'node:fs'
import express from 'express'
import session, { MemoryStore } from 'express-session'
import passport from 'passport'
import { Strategy } from 'passport-local'
import supertest from 'supertest'
import { describe, expect, it } from 'vitest'
import { type Sessmgr, sessmgr } from '../src/index.ts'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
const [snippet = ''] = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code ?? '')

/** Runs the lines of the snippet as they stand, in an application that has what stands around them. */
function applicationOfTheReadme() {
  const { Passport } = passport as unknown as { Passport: new () => passport.Authenticator }
  const authentication = new Passport()
  authentication.use(new Strategy((_username, _password, done) => done(null, { id: 2 } as Express.User)))
  authentication.serializeUser((user, done) => done(null, (user as { id: number }).id))
  authentication.deserializeUser((id: number, done) => done(null, { id } as Express.User))
  const app = express()
  const made: Sessmgr[] = []
  const spy = (options: Parameters<typeof sessmgr>[0]) => {
    const limiter = sessmgr(options)
    made.push(limiter)
    return limiter
  }
  const lines = snippet.split('\n').filter((line) => !line.startsWith('import '))
  const run = new Function('app', 'session', 'store', 'secret', 'sessmgr', 'passport', lines.join('\n'))
  run(app, session, new MemoryStore(), 'a secret', spy, authentication)
  app.post('/login', express.urlencoded({ extended: false }), authentication.authenticate('local'), (_req, res) => {
    res.sendStatus(204)
  })
  app.get('/me', (req, res) => void res.sendStatus(req.user ? 200 : 401))
  return { app, made }
}

describe('the snippet at the top of the README', () => {
  it('stands in its first thirty lines and imports nothing but sessmgr', () => {
    expect(readme.slice(0, readme.indexOf(snippet)).split('\n').length).toBeLessThan(30)
    expect(snippet.match(/^import .*$/gm)).toEqual(["import { sessmgr } from 'sessmgr'"])
  })

  it('lets two browsers stay signed in, and signs the first one out when a third signs in', async () => {
    const { app, made } = applicationOfTheReadme()
    const browsers = [supertest.agent(app), supertest.agent(app), supertest.agent(app)]
    const credentials = { username: 'alice', password: 'any' }
    for (const browser of browsers) await browser.post('/login').type('form').send(credentials).expect(204)
    const answers = await Promise.all(browsers.map((browser) => browser.get('/me')))
    expect(answers.map(({ status }) => status)).toEqual([401, 200, 200])
    expect(made).toHaveLength(1)
    expect(await made[0]?.sessions.count(2)).toBe(2)
  })
})
