import type { QueryKey } from '@tanstack/react-query'
import { queries, rest } from '../screen.ts'
import type { Tagged } from './rest-client.ts'

/** Returns the options of a query that reads an object. While it is unchanged, the server does not send it again. */
export function rereading<T extends object>(queryKey: QueryKey, path: string) {
  return {
    queryKey,
    queryFn: () => rest.reread<T>(path, queries.getQueryData<Tagged<T>>(queryKey)),
    select: ({ body }: Tagged<T>) => body,
  }
}
