// Packages of the documentation that are too large to be installed for it.
declare module 'iron-session' {
  export function getIronSession<Data extends object>(
    cookies: object,
    options: { cookieName: string; password: string },
  ): Promise<Partial<Data> & { save(): Promise<void>; destroy(): void }>
}

declare module 'next/headers' {
  export function cookies(): Promise<object>
}

declare module 'next-auth' {
  type Token = { sub?: string; live?: unknown; sid?: unknown }
  export default function NextAuth(config: {
    providers: never[]
    session: { strategy: 'jwt'; maxAge: number }
    callbacks: {
      jwt(call: { token: Token; user?: object }): Promise<Token | null>
      session(call: { session: object; token: Token }): object
    }
    events: { signOut(event: { token: Token | null } | { session: object }): Promise<void> }
  }): { auth: () => Promise<object | null>; handlers: object }
}
