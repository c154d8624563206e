import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

/** A user of the demo. */
export interface User {
  id: number
  login: string
  email: string
  displayName: string
  role: 'administrator' | 'editor' | 'subscriber'
}

/** Finds users and checks passwords. */
export interface Users {
  readonly all: readonly User[]
  findById(id: number): User | undefined
  findByName(loginOrEmail: string): User | undefined
  /** Finds the users whose name, login or email address contains a string. */
  search(text: string, limit: number): readonly User[]
  /** Returns the user if the password is right. Checking an unknown name takes as long as checking a wrong password. */
  authenticate(loginOrEmail: string, password: string): Promise<User | undefined>
}

const derive = promisify<string, Buffer, number, { N: number }, Buffer>(scrypt)

/** Creates the demo's users. Each user's password is `<login>-password`. */
export function createUsers({ seedUsers, scryptCost }: { seedUsers: number; scryptCost: number }): Users {
  const users = [
    user(1, 'admin', 'administrator'),
    user(2, 'alice', 'subscriber'),
    user(3, 'bob', 'subscriber'),
    user(4, 'carol', 'editor'),
    ...Array.from({ length: seedUsers }, (_, index) => user(1001 + index, `user${index + 1}`, 'subscriber')),
  ]
  const byId = new Map(users.map((entry) => [entry.id, entry]))
  const byName = new Map(users.flatMap((entry) => [entry.login, entry.email].map((name) => [name, entry])))
  const salt = randomBytes(16)
  const hash = (password: string) => derive(password, salt, 32, { N: scryptCost })
  const hashes = new Map<number, Promise<Buffer>>()

  // Hashed at the first login of each user, because hashing thousands of seeded passwords would delay the start.
  function storedHash(entry: User): Promise<Buffer> {
    const known = hashes.get(entry.id) ?? hash(`${entry.login}-password`)
    hashes.set(entry.id, known)
    return known
  }

  return {
    all: users,
    findById: (id) => byId.get(id),
    findByName: (name) => byName.get(name.trim().toLowerCase()),
    search(text, limit) {
      const part = text.trim().toLowerCase()
      const names = ({ login, email, displayName }: User) => [login, email, displayName.toLowerCase()]
      return users.filter((entry) => names(entry).some((name) => name.includes(part))).slice(0, limit)
    },
    async authenticate(name, password) {
      const entry = byName.get(name.trim().toLowerCase())
      const [given, expected] = await Promise.all([hash(password), entry ? storedHash(entry) : hash('')])
      return timingSafeEqual(given, expected) && entry ? entry : undefined
    },
  }
}

function user(id: number, login: string, role: User['role']): User {
  return { id, login, email: `${login}@example.test`, displayName: login[0]?.toUpperCase() + login.slice(1), role }
}
