import { expect, it } from 'vitest'
import { checkLabels } from '../../../src/service/check-labels.ts'

const labelOf = () => 'staff'

it('are none unless limits are given', () => {
  expect(checkLabels({}, 50)).toBeUndefined()
  expect(checkLabels({ limits: { desktop: 1, mobile: 2 } }, 50)).toEqual({
    limits: { desktop: 1, mobile: 2 },
    deadlineMs: 50,
  })
  expect(checkLabels({ limits: { staff: 3 }, labelOf }, 50)).toEqual({ limits: { staff: 3 }, labelOf, deadlineMs: 50 })
})

it('does not change with the object that was given', () => {
  const limits: Record<string, number> = { desktop: 1 }
  const checked = checkLabels({ limits }, 50)
  limits.desktop = 9
  expect(checked?.limits).toEqual({ desktop: 1 })
})

it.each<[object, RegExp]>([
  [{ limits: 1 }, /"limits" must be an object/],
  [{ limits: [1] }, /"limits" must be an object/],
  [{ limits: { mobil: 1 } }, /"limits.mobil" has no effect: .* desktop and mobile. Did you mean "mobile"/],
  [{ limits: { desktop: 0 } }, /"limits.desktop" must be a whole number, 1 or more; got 0/],
  [{ limits: { staff: '2' }, labelOf }, /"limits.staff" must be a whole number, 1 or more; got the string '2'/],
  [{ limits: {}, labelOf: 'desktop' }, /"labelOf" must be a function such as .*; got the string/],
  [{ labelOf }, /"labelOf" has no effect without "limits"/],
])('refuses %j', (options, message) => {
  expect(() => checkLabels(options, 50)).toThrow(message)
})
