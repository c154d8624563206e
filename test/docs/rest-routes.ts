import { type Route, type Schema, schemaOf } from './openapi.ts'

const INTRODUCTION = `# REST routes

This page lists every route, as in the OpenAPI document of a running application. Paths are relative to where you mount the
router, such as \`/api\`. [REST](rest.md) explains authentication and lists the error codes.

Routes need a session with a nonce, or an application password, unless they are public.

\`npx vitest run test/docs --update\` generates this page.
`

/** Writes the page of the routes. Methods of one path that do the same share a section. */
export function routesPage(routes: readonly Route[]): string {
  const sections = new Map<string, string[]>()
  for (const route of routes) {
    const same = `${route.path}\n${sectionOf(route)}`
    sections.set(same, [...(sections.get(same) ?? []), route.method])
  }
  const texts = [...sections].map(([same, methods]) => `## ${methods.join(', ')} ${same}`)
  return [INTRODUCTION, ...texts].join('\n')
}

function sectionOf({ operation }: Route): string {
  const { summary, parameters, requestBody, responses, security } = operation
  const body = requestBody ? schemaOf(requestBody) : {}
  const fields = Object.entries(body.properties ?? {}).map(([name, schema]) => {
    return { name, in: 'body', required: body.required?.includes(name) === true, schema }
  })
  const rows = [...parameters, ...fields].map(
    ({ name, in: place, required, schema }) =>
      `| \`${name}\` | ${place}${required ? ', required' : ''} | ${[typeOf(schema), ...boundsOf(schema)].join(', ')} |`,
  )
  const table = rows.length === 0 ? [] : ['| parameter | in | type |', '| --- | --- | --- |', ...rows, '']
  const open = isOpen(body) ? ['The body is an object whose keys are the names of options.', ''] : []
  const who = security.length === 0 ? 'This route is public. ' : ''
  const types = Object.keys(responses[200].content)
  const what = types.includes('application/json') ? typeOf(schemaOf(responses[200])) : types.join(' or ')
  const unchanged = responses[304] ? ', or 304 if `If-None-Match` has the current `ETag`' : ''
  const answer = `Returns 200 with ${what}${unchanged}.`
  return ['', summary, '', ...table, ...open, `${who}${answer}`, ''].join('\n')
}

const isOpen = ({ properties = {}, additionalProperties }: Schema) =>
  Object.keys(properties).length === 0 && additionalProperties !== undefined

/** Writes a type in one line, such as `{ success: boolean, epoch: integer }`. */
function typeOf(schema: Schema): string {
  return `\`${shapeOf(schema)}\``
}

/** Writes how long a parameter may be, and what else its schema says in words. */
function boundsOf({ minLength, maxLength, minItems, maxItems, description }: Schema): readonly string[] {
  const ranges = [
    { least: minLength, most: maxLength, unit: 'characters' },
    { least: minItems, most: maxItems, unit: 'items' },
  ]
  const lengths = ranges.flatMap(({ least, most, unit }) => {
    if (most === undefined) return least === undefined ? [] : `at least ${least} ${unit}`
    return least === undefined ? `at most ${most} ${unit}` : `${least} to ${most} ${unit}`
  })
  return [...lengths, ...(description === undefined ? [] : [description])]
}

function shapeOf(schema: Schema): string {
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' or ')
  if (schema.anyOf) return schema.anyOf.map(shapeOf).join(' or ')
  if (schema.type === 'array') return `[ ${shapeOf(schema.items ?? {})} ]`
  if (schema.properties) {
    return `{ ${Object.entries(schema.properties)
      .map(([name, property]) => `${name}: ${shapeOf(property)}`)
      .join(', ')} }`
  }
  return (
    [schema.type ?? 'any value'].flat().join(' or ') +
    (schema.pattern ? ` matching ${schema.pattern.replaceAll('|', '\\|')}` : '')
  )
}
