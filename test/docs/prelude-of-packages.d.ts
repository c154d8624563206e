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
