import express from 'express'
import session, { MemoryStore } from 'express-session'
import passport from 'passport'
import { Strategy } from 'passport-local'
import supertest from 'supertest'
import { describe, expect, it } from 'vitest'
import { sessmgr } from '../../../src/index.ts'

/** Logs somebody in twice, with an application that serialises something of its users, and returns what was logged. */
async function warningsWhenSerialising(
  serialised: 'id' | 'email' | 'claims',
  sessionUser?: (data: Record<string, unknown>) => number | undefined,
): Promise<string[]> {
  const warnings: string[] = []
  const logger = { warn: (message: string) => void warnings.push(message), error: () => {} }
  const { Passport } = passport as unknown as { Passport: new () => passport.Authenticator }
  const authentication = new Passport()
  const user = { id: 2, email: 'alice@example.test', claims: { sub: 'alice-2' } }
  authentication.use(new Strategy((_name, _password, done) => done(null, user as never)))
  authentication.serializeUser((_user, done) => done(null, user[serialised]))
  authentication.deserializeUser((_id, done) => done(null, user as never))
  const app = express()
  app.use(session({ store: new MemoryStore(), secret: 'test', resave: false, saveUninitialized: false }))
  app.use(sessmgr({ logger, sessionUser }), authentication.session())
  app.post('/login', express.urlencoded({ extended: false }), authentication.authenticate('local'), (_req, res) => {
    res.sendStatus(204)
  })
  for (let login = 0; login < 2; login++) {
    await supertest(app).post('/login').type('form').send({ username: 'alice', password: 'any' }).expect(204)
  }
  return warnings
}

describe('a session that names its user otherwise than the login', () => {
  it('is told to the operator, once, with what to do', async () => {
    const warnings = await warningsWhenSerialising('email')
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain('count for the wrong user. Set sessionUser: sessmgr({ sessionUser:')
    expect(warnings[0]).not.toContain('alice')
  })

  it('is told as well when it holds nothing that could be an id', async () => {
    const warnings = await warningsWhenSerialising('claims')
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain('are not limited. Set sessionUser:')
    expect(warnings[0]).not.toContain('alice')
  })

  it('is nothing to speak of when it names the same one', async () => {
    expect(await warningsWhenSerialising('id')).toEqual([])
    const sessionUser = ({ passport }: Record<string, unknown>) => (passport ? 2 : undefined)
    expect(await warningsWhenSerialising('email', sessionUser)).toEqual([])
    expect(await warningsWhenSerialising('claims', sessionUser)).toEqual([])
  })
})
