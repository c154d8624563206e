// Express, Passport and sessmgr. Sign in at http://127.0.0.1:3000 from two browsers: the first one is signed out.
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
app.use(sessmgr({ settings: { maximum: 1 } })) // before the login route
app.use(passport.session())

const form = `<form method="post" action="/login">
  <p><label>Name: alice <input name="username"></label>
  <p><label>Password: secret <input name="password" type="password"></label>
  <p><button>Sign in</button>
</form>`
app.get('/', (req, res) => res.send(req.user ? 'You are signed in.' : form))
app.post(
  '/login',
  express.urlencoded({ extended: false }),
  passport.authenticate('local', { successRedirect: '/', failureRedirect: '/' }),
)

app.listen(3000, '127.0.0.1', (error) => {
  if (error) throw error
  console.log('http://127.0.0.1:3000')
})
