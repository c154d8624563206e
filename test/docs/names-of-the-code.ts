import { createLazyComments } from '../../src/comments.ts'
import { OPTION_KEY } from '../../src/constants.ts'
import { hookCatalogue, SessmgrError, type SessmgrErrorCode, sessmgr } from '../../src/index.ts'
import { resolveOptions } from '../../src/service/resolve-options.ts'
import { addonErrors } from './addon-errors.ts'
import { readCommandLine } from './command-line.ts'
import { readCommentsScript } from './comments-script.ts'
import { type Route, readRoutes, type Schema, schemaOf } from './openapi.ts'
import { type Names, readPublicApi } from './public-api.ts'
import { restErrors } from './rest-errors.ts'
import { readScreenApi } from './screen-api.ts'

/** Reads every name that people hold on to, each from the code that gives it: compiled, or run. */
export async function namesOfTheCode(): Promise<Names> {
  const api = readPublicApi()
  const [routes, addons, screen, commands] = await Promise.all([
    readRoutes(),
    addonErrors(),
    readScreenApi(),
    readCommandLine(),
  ])
  const { 'Values of SessmgrErrorCode': errorCodes = [], ...named } = Object.fromEntries(api)
  // A sentence may go in any release; its text is ignored then.
  const rest = Object.fromEntries(Object.entries(named).filter(([section]) => section !== 'Values of TextKey'))
  return new Map<string, readonly string[]>([
    ['Actions', signatures(hookCatalogue.actions)],
    ['Filters', signatures(hookCatalogue.filters)],
    ['Site options', [OPTION_KEY, commentsOption()]],
    ['Values of logic', Object.keys(await sessmgr().modes.catalogue())],
    ['REST routes', routes.map(nameOf)],
    ['REST parameters', routes.flatMap(parametersOf)],
    ['REST answers', routes.flatMap(answersOf)],
    ['REST headers', [resolveOptions({}).nonceHeader]],
    ['REST error codes', [...restErrors(), ...addons.map(({ status, code }) => `${status} ${code}`)]],
    ['REST error data', [...addons.flatMap(({ data }) => data)]],
    ['Codes of SessmgrError', errorCodes],
    ['Status of SessmgrError', errorCodes.map((code) => `${statusOf(code as SessmgrErrorCode)} ${code}`)],
    ...commands,
    ...screen.names,
    ...readCommentsScript(),
    ...Object.entries(rest),
  ])
}

function statusOf(code: SessmgrErrorCode): number | undefined {
  return (new SessmgrError(code, 'made up') as SessmgrError).status
}

function signatures(hooks: Readonly<Record<string, { readonly parameters: readonly string[] }>>): string[] {
  return Object.entries(hooks).map(([name, { parameters }]) => `${name}(${parameters.join(', ')})`)
}

function commentsOption(): string {
  const posts = { find: () => undefined, id: () => 1, url: () => '/', isPublic: () => true, countComments: () => 0 }
  const { settings } = createLazyComments({ host: { posts, theme: { renderComments: () => '' } } })
  return settings.option.name
}

const nameOf = ({ method, path }: Route) => `${method} ${path}`

function parametersOf(route: Route): string[] {
  const { parameters, requestBody } = route.operation
  const body = requestBody ? Object.keys(schemaOf(requestBody).properties ?? {}) : []
  return [...parameters.map(({ name }) => name), ...body].map((name) => `${nameOf(route)}: ${name}`)
}

function answersOf(route: Route): string[] {
  return fieldsOf(schemaOf(route.operation.responses[200])).map((field) => `${nameOf(route)}: ${field}`)
}

/** Every field of an answer, such as `items[].id`. */
function fieldsOf({ properties = {} }: Schema): string[] {
  return Object.entries(properties).flatMap(([name, field]) => [
    name,
    ...fieldsOf(field).map((inner) => `${name}.${inner}`),
    ...fieldsOf(field.items ?? {}).map((inner) => `${name}[].${inner}`),
  ])
}
