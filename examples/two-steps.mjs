// A login with a second factor. Sign in at http://127.0.0.1:3000 from two browsers: the first one is signed out once
// the second one has sent its code.
import express from 'express'
import session from 'express-session'
import passport from 'passport'
import { Strategy } from 'passport-local'
import { sessmgr } from 'sessmgr'

const users = [{ id: 'u1', login: 'alice' }] // your database, which ignores case in names
const findUser = (name = '') => users.find(({ login }) => login === name.toLowerCase())

passport.use(new Strategy((name, password, done) => done(null, password === 'secret' && findUser(name))))
passport.serializeUser((user, done) => done(null, user.id))
passport.deserializeUser((id, done) => done(null, users.find((user) => user.id === id) ?? false))

const app = express()
app.use(session({ secret: 'change me', resave: false, saveUninitialized: false, cookie: { sameSite: 'lax' } }))
app.use(sessmgr({ settings: { maximum: 1, logic: process.env.SESSMGR_LOGIC || 'allow' } }))
app.use(passport.session())
app.use(express.urlencoded({ extended: false }))

const form = (action, fields) => `<form method="post" action="${action}">${fields}<p><button>Go on</button></form>`
const name = '<p><label>Name: alice <input name="username"></label>'
const password = '<p><label>Password: secret <input name="password" type="password"></label>'
const code = '<p><label>Code: 123456 <input name="code" autocomplete="one-time-code"></label>'
app.get('/', (req, res) => res.send(req.user ? 'You are signed in.' : form('/login', name + password)))
app.get('/login/code', (_req, res) => res.send(form('/login/code', code)))

// With a callback, Passport only checks the password. The visitor's session remembers whose code to expect.
app.post('/login', (req, res, next) => {
  const checked = (error, user) => {
    if (error || !user) return error ? next(error) : res.redirect('/')
    req.session.waiting = { id: user.id, until: Date.now() + 5 * 60_000 }
    req.session.save((error) => (error ? next(error) : res.redirect('/login/code')))
  }
  passport.authenticate('local', checked)(req, res, next)
})

// Only this step is the login: it takes a slot, and may sign out other devices.
app.post('/login/code', (req, res, next) => {
  const { waiting } = req.session
  if (!(waiting?.until > Date.now()) || req.body.code !== '123456') return res.redirect('/')
  req.logIn({ id: waiting.id }, (error) => (error ? next(error) : res.redirect('/')))
})

app.listen(3000, '127.0.0.1', (error) => {
  if (error) throw error
  console.log('http://127.0.0.1:3000')
})
