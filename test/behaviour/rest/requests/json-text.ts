import fc from 'fast-check'

const KEYS = [
  'maximum',
  'logic',
  'user',
  'token',
  'sessmgr_settings',
  'fuzzed_addon',
  'text',
  'nested',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'valueOf',
  'toJSON',
  'then',
  'length',
  'hasOwnProperty',
  '',
  'a',
]
const SCALARS = [
  ...['null', 'true', 'false', '0', '1', '-1', '2.5', '1e3', '1e999', '-0', '9007199254740993', '"1"', '"0x1"', '""'],
  ...['"allow"', '"block"', '"logout_oldest"', '"alice"', '"ALICE "', '"2"', '"bob@example.test"', '"__proto__"'],
  ...['"\\u0000"', '"\\ud800"', '"\\u202e"', '"<script>"', '"{{7*7}}"', '"a\\r\\nb: c"'],
]
const POLLUTIONS = [
  '{"__proto__":{"polluted":1}}',
  '{"constructor":{"prototype":{"polluted":1}}}',
  '{"__proto__":{"maximum":7,"logic":"block","user":"alice"}}',
  '{"\\u005f_proto__":{"polluted":1}}',
  '{"maximum":{"__proto__":{"polluted":1}}}',
  '{"sessmgr_settings":{"__proto__":{"maximum":7,"polluted":1}}}',
  '{"sessmgr_settings":{"constructor":{"prototype":{"polluted":1}}}}',
  '{"fuzzed_addon":{"nested":{"__proto__":{"polluted":1}}}}',
  '{"maximum":2,"maximum":3}',
  '{"user":"bob","user":"alice"}',
  '{"user":"bob","us\\u0065r":"alice"}',
]

/**
 * Returns text that is JSON, almost JSON, or neither, with keys and values that a route might mishandle. Objects repeat
 * keys.
 *
 * @param likely Keys that the route knows. Most objects have one of them.
 */
export function jsonText(likely: readonly string[]): fc.Arbitrary<string> {
  const { value } = fc.letrec<{ value: string; array: string; object: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      fc.constantFrom(...SCALARS),
      fc.string({ unit: 'binary', maxLength: 8 }).map((text) => JSON.stringify(text)),
      tie('array'),
      tie('object'),
    ),
    array: fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    object: objectText(tie('value')),
  }))
  const known = fc
    .tuple(fc.constantFrom(...likely), fc.constantFrom(...SCALARS))
    .map(([key, text]) => `{${JSON.stringify(key)}:${text}}`)
  const object = fc.oneof(known, objectText(value))
  const broken = fc.tuple(object, fc.nat(), fc.constantFrom('', '"', '}', '\\', '\0', ',')).map(([text, at, by]) => {
    const place = at % (text.length + 1)
    return text.slice(0, place) + by + text.slice(place + 1)
  })
  const deep = fc
    .integer({ min: 1, max: 40_000 })
    .map((depth) => `{"maximum":${'['.repeat(depth)}${']'.repeat(depth)}}`)
  return fc.oneof(
    { weight: 12, arbitrary: object },
    { weight: 3, arbitrary: fc.constantFrom(...POLLUTIONS) },
    { weight: 2, arbitrary: broken },
    { weight: 2, arbitrary: value },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
    {
      weight: 1,
      arbitrary: fc.oneof(
        deep,
        deep.map((text) => `{"sessmgr_settings":${text}}`),
      ),
    },
  )
}

function objectText(value: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const key = fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...KEYS) }, { weight: 1, arbitrary: fc.string() })
  const pair = fc.tuple(key, value).map(([name, text]) => `${JSON.stringify(name)}:${text}`)
  return fc.array(pair, { maxLength: 5 }).map((pairs) => `{${pairs.join(',')}}`)
}
