// NestJS on Express, with @nestjs/passport. Sign in at http://127.0.0.1:3000 from two browsers: the first one is signed
// out.
import 'reflect-metadata'
import { Controller, type ExecutionContext, Get, Module, Post, Redirect, Req, UseGuards } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { AuthGuard, PassportStrategy } from '@nestjs/passport'
import type { Request } from 'express'
import session from 'express-session'
import passport from 'passport'
import { Strategy } from 'passport-local'
import { sessmgr } from 'sessmgr'

const users = [{ id: 'u1', login: 'alice' }] // your database, which ignores case in names
const findUser = (name = '') => users.find(({ login }) => login === name.toLowerCase())

class PasswordStrategy extends PassportStrategy(Strategy) {
  validate(username: string, password: string) {
    return password === 'secret' && findUser(username)
  }
}

class LoginGuard extends AuthGuard('local') {
  override async canActivate(context: ExecutionContext) {
    await super.canActivate(context)
    await super.logIn(context.switchToHttp().getRequest()) // the limit decides here
    return true
  }
}

const form = `<form method="post" action="/login">
  <p><label>Name: alice <input name="username"></label>
  <p><label>Password: secret <input name="password" type="password"></label>
  <p><button>Sign in</button>
</form>`

@Controller()
class AccountController {
  @Get()
  index(@Req() request: Request) {
    return request.user ? 'You are signed in.' : form
  }

  @Post('login')
  @UseGuards(LoginGuard)
  @Redirect('/')
  login() {}
}

@Module({ controllers: [AccountController], providers: [PasswordStrategy] })
class AppModule {}

passport.serializeUser((user, done) => done(null, (user as { id: string }).id))
passport.deserializeUser((id: string, done) => done(null, users.find((user) => user.id === id) ?? false))

const app = await NestFactory.create(AppModule)
app.use(session({ secret: 'change me', resave: false, saveUninitialized: false, cookie: { sameSite: 'lax' } }))
app.use(sessmgr({ settings: { maximum: 1 } }))
app.use(passport.session())
await app.listen(3000, '127.0.0.1')
