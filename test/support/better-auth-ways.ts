import type { BetterAuthPlugin } from 'better-auth'
import { emailOTP, genericOAuth, magicLink, username } from 'better-auth/plugins'
import { type Answer, type AuthClient, PASSWORD } from './better-auth-lab.ts'
import { listen } from './listen.ts'

const EMAIL = 'ada@site.test'

/** A way to sign in as ada. */
export interface Way {
  readonly plugins: readonly BetterAuthPlugin[]
  /** Whether sign-ins at once disturb each other, so that better-auth refuses some of them with 400. */
  readonly isExclusive?: true
  signIn(client: AuthClient): Promise<Answer>
}

/** Starts an OAuth provider that lets ada in, without asking her. */
function startProvider(): Promise<string> {
  return listen((request, response) => {
    const answers = {
      '/token': { access_token: 'token', token_type: 'Bearer' },
      '/userinfo': { id: '7', sub: '7', email: EMAIL, email_verified: true, name: 'ada' },
    }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(answers[request.url as keyof typeof answers] ?? {}))
  })
}

async function byOAuth(): Promise<Way> {
  const site = await startProvider()
  const urls = { authorizationUrl: `${site}/authorize`, tokenUrl: `${site}/token`, userInfoUrl: `${site}/userinfo` }
  const config = [{ providerId: 'local', clientId: 'id', clientSecret: 'secret', ...urls }]
  return {
    plugins: [genericOAuth({ config })],
    async signIn(client) {
      const begun = await client.send('/sign-in/social', { provider: 'local', callbackURL: '/home' })
      const state = new URL(begun.json.url).searchParams.get('state')
      return client.send(`/callback/local?code=code&state=${state}`)
    },
  }
}

/** Each link is opened by the client that has asked for it. */
function byLink(): Way {
  const sent = new Map<string, string>()
  return {
    plugins: [magicLink({ sendMagicLink: ({ token, metadata }) => void sent.set(String(metadata?.for), token) })],
    async signIn(client) {
      const id = String(Math.random())
      await client.send('/sign-in/magic-link', { email: EMAIL, metadata: { for: id } })
      return client.send(`/magic-link/verify?token=${sent.get(id)}&callbackURL=/home`)
    },
  }
}

/** Codes of one address replace each other, so few of many clients at once have one that is valid. */
function byCode(): Way {
  let code = ''
  const sendVerificationOTP = async ({ otp }: { otp: string }) => {
    code = otp
  }
  return {
    plugins: [emailOTP({ sendVerificationOTP })],
    isExclusive: true,
    async signIn(client) {
      await client.send('/email-otp/send-verification-otp', { email: EMAIL, type: 'sign-in' })
      return client.send('/sign-in/email-otp', { email: EMAIL, otp: code })
    },
  }
}

/** Ways to sign in, by name. */
export const WAYS = {
  email: async (): Promise<Way> => ({ plugins: [], signIn: (client) => client.signIn() }),
  'user name': async (): Promise<Way> => ({
    plugins: [username()],
    signIn: (client) => client.send('/sign-in/username', { username: 'ada', password: PASSWORD }),
  }),
  OAuth: byOAuth,
  'magic link': async () => byLink(),
  code: async () => byCode(),
} as const
