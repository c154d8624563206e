import * as z from 'zod/mini'
import type { NotedPasswords, PasswordInfo } from '../../auth/application-passwords.ts'
import { unixSeconds } from '../../ground/clock.ts'
import type { Host, HostUsers, UserSummary } from '../../host/host.ts'
import { RestError } from '../answer.ts'
import { byAdmin, type Caller } from '../caller.ts'
import { type RestRoute, restRoute } from '../router.ts'
import {
  checkIdentifier,
  isUserNamed,
  requireUser,
  type UserParameters,
  userFields,
  userSummarySchema,
} from './route-parts.ts'

const LONGEST_NAME = 100
const LENGTH = `must have 1 to ${LONGEST_NAME} characters`

const passwordSchema = z.object({
  id: z.string(),
  name: z.string(),
  created: z.int(),
  last_used: z.nullable(z.int()),
})

/** Returns the routes that list and revoke any user's application passwords, and create passwords for the caller. */
export function passwordsRoutes(passwords: NotedPasswords, { users }: Host): readonly RestRoute[] {
  const path = '/sessmgr/v1/application-passwords'
  const access = 'manage_options'
  return [
    restRoute<UserParameters>({
      methods: ['GET'],
      path,
      summary:
        "Lists a user's application passwords, oldest first, or the caller's own if no user is named. Times are Unix seconds.",
      access,
      isTagged: true,
      schemas: () => ({
        params: z.object(userFields),
        response: z.object({ user: userSummarySchema, passwords: z.array(passwordSchema) }),
      }),
      precheck: checkOptionalUser,
      async handle({ params, caller }) {
        const user = await findUser(users, params, caller)
        return { user, passwords: (await passwords.list(user.id)).map(rowOf) }
      },
    }),
    restRoute<{ name: string }>({
      methods: ['POST'],
      path,
      summary:
        'Creates an application password for the caller, who needs a session and a nonce. Only this response contains the password.',
      access,
      needsSession: true,
      needsBody: true,
      schemas: () => ({
        params: z.object({
          name: z
            .string('must be a string')
            .check(
              z.trim(),
              z.minLength(1, LENGTH),
              z.maxLength(LONGEST_NAME, LENGTH),
              z.regex(/^\P{Cc}*$/u, 'must not contain control characters'),
            ),
        }),
        response: z.object({ ...passwordSchema.shape, password: z.string() }),
      }),
      async handle({ params: { name }, caller }) {
        const { userId } = caller as Caller
        const { password, ...created } = await passwords.create(userId, name, undefined, byAdmin(caller))
        return { ...rowOf(created), password }
      },
    }),
    restRoute<UserParameters & { password_id: string }>({
      methods: ['DELETE'],
      path: `${path}/{password_id}`,
      summary: "Revokes a user's application password, or the caller's own if no user is named.",
      access,
      schemas: () => ({
        params: z.object({ ...userFields, password_id: z.string() }),
        response: z.object({ success: z.boolean(), user: userSummarySchema }),
      }),
      precheck: checkOptionalUser,
      async handle({ params, caller }) {
        const user = await findUser(users, params, caller)
        if (await passwords.revoke(user.id, params.password_id, byAdmin(caller))) return { success: true, user }
        throw new RestError(404, 'password_not_found', 'This user has no application password with this id.')
      },
    }),
  ]
}

function checkOptionalUser(params: Readonly<Record<string, unknown>>): void {
  if (isUserNamed(params)) checkIdentifier(params)
}

async function findUser(users: HostUsers, params: UserParameters, caller: Caller | undefined): Promise<UserSummary> {
  return users.summary(isUserNamed(params) ? await requireUser(users, params) : caller?.user)
}

function rowOf({ id, name, createdAt, lastUsedAt }: PasswordInfo) {
  return {
    id,
    name,
    created: unixSeconds(createdAt),
    last_used: lastUsedAt === undefined ? null : unixSeconds(lastUsedAt),
  }
}
