import { createRequire } from 'node:module'
import express from 'express'
import session from 'express-session'
import { Passport } from 'passport'
import { Strategy } from 'passport-local'
import supertest from 'supertest'
import ts from 'typescript'
import { expect, onTestFinished } from 'vitest'
import { type SessmgrOptions, sessmgr } from '../../src/index.ts'
import { codeBlocks, pageAt } from './pages.ts'

/** Names in reach of a block. */
export type Names = Readonly<Record<string, unknown>>

export const nodeRequire = createRequire(import.meta.url)

/** Runs a block of a page, with these names in reach, and returns what it declares under another name. */
export function runBlock(recipe: string, index: number, names: Names, result = 'undefined'): unknown {
  const { code } = codeBlocks(pageAt(`docs/${recipe}.md`))[index] ?? { code: '' }
  expect(code).not.toBe('')
  const compilerOptions = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 }
  const { outputText } = ts.transpileModule(code, { compilerOptions })
  const all = { require: nodeRequire, exports: {}, ...names }
  return new Function(...Object.keys(all), `${outputText}\nreturn ${result}`)(...Object.values(all))
}

// Other tests have users with numbers for ids.
export const userOf = (id: string) => ({ id }) as unknown as Express.User

/** An application in which alice can sign in, with a recipe's lines behind sessmgr. */
export function createApp(
  addLines: (names: { app: express.Express } & Names) => void,
  options: SessmgrOptions = {},
  limiter = sessmgr({ settings: { maximum: 9 }, logger: { warn() {}, error() {} }, ...options }),
) {
  const passport = new Passport()
  passport.use(new Strategy((username, password, done) => done(null, password === 'secret' && userOf(username))))
  passport.serializeUser<unknown>((user, done) => done(null, (user as Express.User).id))
  passport.deserializeUser((id, done) => done(null, userOf(String(id))))
  onTestFinished(() => limiter.close())
  const app = express()
  app.use(session({ secret: 'test', resave: false, saveUninitialized: false }), limiter, passport.session())
  app.use(express.urlencoded({ extended: false }))
  addLines({ app, limiter, passport })
  app.post('/login', passport.authenticate('local'), (_req, res) => void res.redirect('/'))
  app.get('/me', (req, res) => void (req.user ? res.send(req.user.id) : res.status(401).send(res.locals.notice?.html)))
  return { app, limiter, clock: options.store }
}

/** What alice signs in with. */
export const FORM = { username: 'alice', password: 'secret' }

/** Signs alice in, as so many devices. */
export async function devicesOf(app: express.Express, count: number) {
  const devices = Array.from({ length: count }, () => supertest.agent(app))
  for (const device of devices) await device.post('/login').type('form').send(FORM).expect(302)
  return devices as [ReturnType<typeof supertest.agent>, ReturnType<typeof supertest.agent>]
}
