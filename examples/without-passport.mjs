// An Express application with its own login. Sign in at http://127.0.0.1:3000 from two browsers: the first one is
// signed out.
import express from 'express'
import session from 'express-session'
import { sessmgr } from 'sessmgr'

const users = [{ id: 'u1', login: 'alice' }] // your database, which ignores case in names
const findUser = (name = '') => users.find(({ login }) => login === name.toLowerCase())

const app = express()
app.use(session({ secret: 'change me', resave: false, saveUninitialized: false, cookie: { sameSite: 'lax' } }))
app.use(sessmgr({ sessionUser: ({ userId }) => userId, settings: { maximum: 1 } })) // the one line to add

const form = `<form method="post" action="/login">
  <p><label>Name: alice <input name="username"></label>
  <p><label>Password: secret <input name="password" type="password"></label>
  <p><button>Sign in</button>
</form>`
app.get('/', (req, res) => res.send(req.session.userId ? 'You are signed in.' : form))
app.post('/login', express.urlencoded({ extended: false }), (req, res, next) => {
  const user = req.body.password === 'secret' && findUser(req.body.username)
  if (!user) return res.redirect('/')
  req.session.regenerate((error) => {
    if (error) return next(error)
    req.session.userId = user.id
    req.session.save((error) => (error ? next(error) : res.redirect('/')))
  })
})

app.listen(3000, '127.0.0.1', (error) => {
  if (error) throw error
  console.log('http://127.0.0.1:3000')
})
