declare global {
  namespace Express {
    interface User {
      readonly id?: number
      readonly login: string
    }
  }
}

const USERS: readonly Express.User[] = [
  { id: 2, login: 'alice' },
  { id: 3, login: 'bob' },
  { id: 4, login: 'carol' },
  { login: 'nameless' },
]

/**
 * Finds a user if the password is correct. `user<n>` has the id 1000 + n. Does not hash, so that tests measure
 * sessions.
 */
export function authenticate(login: string, password: string): Express.User | undefined {
  return password === 'secret' ? findUser(login) : undefined
}

export function findUser(login: string): Express.User | undefined {
  const number = /^user(\d+)$/.exec(login)?.[1]
  return number === undefined ? USERS.find((user) => user.login === login) : { id: 1000 + Number(number), login }
}

export function findUserById(id: number): Express.User | undefined {
  return id >= 1000 ? { id, login: `user${id - 1000}` } : USERS.find((user) => user.id === id)
}
